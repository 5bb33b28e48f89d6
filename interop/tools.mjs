// The row of Kafka's own command-line tools: each step runs the real tools and checks what they print and what they changed.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTool } from '../tools/apache.mjs'

const TOPICS = 'org.apache.kafka.tools.TopicCommand'
const CONFIGS = 'kafka.admin.ConfigCommand'
const GROUPS = 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand'
const OFFSETS = 'org.apache.kafka.tools.GetOffsetShell'
const PRODUCER = 'kafka.tools.ConsoleProducer'
const CONSUMER = 'org.apache.kafka.tools.consumer.ConsoleConsumer'
const RECORDS = 120
const PERF_RECORDS = 20_000

/** In order: later steps use what earlier ones made. Against Apache and against us alike. */
export const TOOL_STEPS = [
  { name: 'topics', needs: [], run: topics },
  { name: 'configs', needs: [], run: configs },
  { name: 'console', needs: [], run: consoles },
  { name: 'groups', needs: [], run: groups },
  { name: 'get-offsets', needs: [], run: getOffsets },
  { name: 'delete-records', needs: [], run: deleteRecords },
  { name: 'log-dirs', needs: [], run: logDirs },
  { name: 'api-versions', needs: [], run: apiVersions },
  { name: 'perf', needs: [], run: perf },
  { name: 'delete', needs: [], run: deleteTopic },
]

async function topics({ target, prefix }) {
  const topic = `${prefix}-tools`
  await tool(target, TOPICS, [
    '--create',
    '--topic',
    topic,
    '--partitions',
    '2',
    '--replication-factor',
    '1',
    '--config',
    'retention.ms=604800123',
  ])
  await tool(target, TOPICS, ['--alter', '--topic', topic, '--partitions', '3'])
  const described = await tool(target, TOPICS, ['--describe', '--topic', topic])
  assert.match(
    described,
    new RegExp(
      `Topic: ${topic}\\s+TopicId: \\S{22}\\s+PartitionCount: 3\\s+ReplicationFactor: 1\\s+Configs: .*retention.ms=604800123`,
    ),
  )
  for (const partition of [0, 1, 2])
    assert.match(described, new RegExp(`Partition: ${partition}\\s+Leader: 1\\s+Replicas: 1\\s+Isr: 1`))
  assert.ok((await tool(target, TOPICS, ['--list'])).split('\n').includes(topic), 'the list lacks the topic')
}

async function configs({ target, prefix }) {
  const entity = ['--entity-type', 'topics', '--entity-name', `${prefix}-tools`]
  await tool(target, CONFIGS, ['--alter', ...entity, '--add-config', 'max.message.bytes=1048000,segment.bytes=1048576'])
  await tool(target, CONFIGS, ['--alter', ...entity, '--delete-config', 'retention.ms'])
  const described = await tool(target, CONFIGS, ['--describe', ...entity])
  assert.match(
    described,
    /max\.message\.bytes=1048000 sensitive=false synonyms=\{DYNAMIC_TOPIC_CONFIG:max\.message\.bytes=1048000, DEFAULT_CONFIG:message\.max\.bytes=1048588\}/,
  )
  assert.match(described, /segment\.bytes=1048576/)
  assert.ok(!described.includes('retention.ms'), 'retention.ms is still there')
  const all = await tool(target, CONFIGS, ['--describe', '--all', '--entity-type', 'brokers', '--entity-name', '1'])
  assert.match(all, /log\.segment\.bytes=1073741824 sensitive=false/)
}

async function consoles({ target, prefix }) {
  const topic = `${prefix}-tools`
  const lines = Array.from({ length: RECORDS }, (_, index) => `index:${index},empty:|key-${index % 7}|value ${index} ☃`)
  const form = ['parse.headers=true', 'headers.delimiter=|', 'parse.key=true', 'key.separator=|'].flatMap((property) => [
    '--property',
    property,
  ])
  await tool(target, PRODUCER, ['--topic', topic, ...form], `${lines.join('\n')}\n`)
  const print = ['timestamp', 'partition', 'offset', 'headers', 'key'].flatMap((what) => ['--property', `print.${what}=true`])
  const read = await tool(target, CONSUMER, [
    ...[
      '--topic',
      topic,
      '--group',
      `${topic}-group`,
      '--from-beginning',
      '--max-messages',
      String(RECORDS),
      '--timeout-ms',
      '20000',
    ],
    ...[...print, '--property', 'key.separator=|'],
  ])
  const records = read.split('\n').filter((line) => line.includes('|'))
  assert.equal(records.length, RECORDS, 'records read')
  const next = {}
  const values = records.map((line) => {
    const [time, partition, offset, headers, key, value] = line.split('|')
    const index = Number(/^value (\d+) ☃$/.exec(value)?.[1])
    assert.equal(headers, `index:${index},empty:`)
    assert.equal(key, `key-${index % 7}`)
    assert.ok(Math.abs(Number(time.slice('CreateTime:'.length)) - Date.now()) < 600_000, `time ${time}`)
    assert.equal(offset, `Offset:${next[partition] ?? 0}`)
    next[partition] = (next[partition] ?? 0) + 1
    return index
  })
  assert.deepEqual(
    [...values].sort((a, b) => a - b),
    Array.from({ length: RECORDS }, (_, index) => index),
  )
}

async function groups({ target, prefix }) {
  const group = `${prefix}-tools-group`
  const lags = async () => {
    const rows = (await tool(target, GROUPS, ['--describe', '--group', group]))
      .split('\n')
      .filter((line) => line.startsWith(group))
    return rows
      .map((row) => row.split(/\s+/))
      .map(([, , , current, end, lag]) => ({ current: Number(current), end: Number(end), lag: Number(lag) }))
  }
  const before = await lags()
  assert.equal(sum(before.map((row) => row.end)), RECORDS, 'end offsets')
  assert.equal(sum(before.map((row) => row.lag)), 0, 'lag after reading all')
  await tool(target, GROUPS, ['--reset-offsets', '--group', group, '--topic', `${prefix}-tools`, '--to-earliest', '--execute'])
  assert.equal(sum((await lags()).map((row) => row.lag)), RECORDS, 'lag after the reset to the beginning')
  await tool(target, GROUPS, ['--reset-offsets', '--group', group, '--topic', `${prefix}-tools`, '--shift-by', '5', '--execute'])
  assert.equal(sum((await lags()).map((row) => row.current)), 15, 'offsets after the shift')
  assert.match(await tool(target, GROUPS, ['--describe', '--group', group, '--state']), /\bEmpty\b/)
  assert.ok((await tool(target, GROUPS, ['--list'])).split('\n').includes(group), 'the list lacks the group')
  await tool(target, GROUPS, ['--delete', '--group', group])
  assert.ok(!(await tool(target, GROUPS, ['--list'])).split('\n').includes(group), 'the group is still there')
}

async function getOffsets({ target, prefix }) {
  assert.equal(sum(Object.values(await offsetsAt(target, prefix, 'latest'))), RECORDS, 'latest offsets')
  assert.deepEqual(await offsetsAt(target, prefix, 'earliest'), { 0: 0, 1: 0, 2: 0 })
  assert.deepEqual(await offsetsAt(target, prefix, String(Date.now() - 3_600_000)), { 0: 0, 1: 0, 2: 0 })
}

async function deleteRecords({ target, prefix }) {
  const folder = mkdtempSync(join(tmpdir(), 'mq-interop-'))
  try {
    const file = join(folder, 'offsets.json')
    const partitions = [0, 1, 2].map((partition) => ({ topic: `${prefix}-tools`, partition, offset: 4 + partition }))
    writeFileSync(file, JSON.stringify({ partitions, version: 1 }))
    const printed = await tool(target, 'org.apache.kafka.tools.DeleteRecordsCommand', ['--offset-json-file', file])
    assert.match(printed, /partition: \S+-tools-2\s+low_watermark: 6/)
  } finally {
    rmSync(folder, { recursive: true })
  }
  assert.deepEqual(await offsetsAt(target, prefix, 'earliest'), { 0: 4, 1: 5, 2: 6 })
}

async function logDirs({ target, prefix }) {
  const printed = await tool(target, 'org.apache.kafka.tools.LogDirsCommand', ['--describe', '--topic-list', `${prefix}-tools`])
  const { brokers } = JSON.parse(printed.split('\n').find((line) => line.startsWith('{')))
  assert.equal(brokers[0].broker, 1)
  assert.equal(brokers[0].logDirs[0].error, null)
  const sizes = Object.fromEntries(brokers[0].logDirs[0].partitions.map((one) => [one.partition, one.size]))
  assert.deepEqual(
    Object.keys(sizes).sort(),
    [0, 1, 2].map((partition) => `${prefix}-tools-${partition}`),
  )
  for (const [partition, size] of Object.entries(sizes)) assert.ok(size > 0, `${partition} has ${size} bytes`)
}

async function apiVersions({ target }) {
  const printed = await tool(target, 'kafka.admin.BrokerApiVersionsCommand', [])
  assert.match(printed, new RegExp(`^${target.bootstrap.replaceAll('.', '\\.')} \\(id: 1 rack: null`, 'm'))
  assert.match(printed, /Produce\(0\): 0 to 11 \[usable: 11\]/)
  assert.match(printed, /Fetch\(1\): 0 to 17 \[usable: 17\]/)
  const cluster = await tool(target, 'kafka.tools.ClusterTool', ['cluster-id'])
  assert.match(cluster, /Cluster ID: \S{22}/)
}

async function perf({ target, prefix }) {
  const topic = `${prefix}-perf`
  const { stdout, stderr, code } = await runTool('org.apache.kafka.tools.ProducerPerformance', [
    ...['--topic', topic, '--num-records', String(PERF_RECORDS), '--record-size', '1024', '--throughput', '-1'],
    ...['--producer-props', `bootstrap.servers=${target.bootstrap}`, 'acks=all', 'compression.type=lz4'],
  ])
  assert.equal(code, 0, stderr)
  assert.match(stdout, new RegExp(`^${PERF_RECORDS} records sent`, 'm'))
  const read = await tool(target, 'org.apache.kafka.tools.ConsumerPerformance', [
    ...['--topic', topic, '--messages', String(PERF_RECORDS), '--timeout', '20000', '--hide-header'],
  ])
  const line = read.split('\n').find((one) => /^\d{4}-/.test(one))
  assert.equal(Number(line?.split(', ')[4]), PERF_RECORDS, `records consumed: ${read}`)
}

async function deleteTopic({ target, prefix }) {
  await tool(target, TOPICS, ['--delete', '--topic', `${prefix}-tools`])
  assert.ok(!(await tool(target, TOPICS, ['--list'])).split('\n').includes(`${prefix}-tools`), 'the topic is still there')
}

async function tool(target, name, args, input = '') {
  const { code, stdout, stderr } = await runTool(name, [...args, '--bootstrap-server', target.bootstrap], { input })
  assert.equal(code, 0, `${name} ${args.join(' ')} ended with ${code}: ${stdout.slice(-500)}${stderr.slice(-1000)}`)
  return stdout
}

async function offsetsAt(target, prefix, time) {
  const printed = await tool(target, OFFSETS, ['--topic', `${prefix}-tools`, '--time', time])
  return Object.fromEntries(
    [...printed.matchAll(/^\S+:(\d+):(\d+)$/gm)].map(([, partition, offset]) => [partition, Number(offset)]),
  )
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0)
}
