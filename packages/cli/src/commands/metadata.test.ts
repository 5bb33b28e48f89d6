import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startBroker } from '@mq/broker'
import { Kafka, logLevel } from '@mq/client'
import { vectors } from '../../../../conformance/index.js'
import { mq } from '../testing/memory-terminal.js'

interface Node {
  readonly path: string
  readonly data: string | null
  readonly json?: unknown
  readonly ephemeral: boolean
}

describe('mq metadata', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mq-metadata-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('exports what a stopped broker knows, and says so of a running one', async () => {
    const data = join(folder, 'data')
    const broker = await startBroker({ directory: data })
    try {
      assert.equal(
        (await mq(['-b', broker.bootstrap, 'topics', 'create', 'orders', '-p', '2', '-c', 'retention.ms=77000'])).code,
        0,
      )
      const running = await mq(['metadata', 'export', '--data', data])
      assert.equal(running.code, 1)
      assert.match(running.error, /is in use by .*; stop that broker first/)
    } finally {
      await broker.close()
    }
    const printed = await mq(['metadata', 'export', '--data', data])
    assert.equal(printed.code, 0, printed.error)
    const nodes = JSON.parse(printed.out) as { path: string }[]
    assert.ok(nodes.some(({ path }) => path === '/brokers/topics/orders'))
    const file = join(folder, 'znodes.json')
    const written = await mq(['--json', 'metadata', 'export', file, '--data', data])
    assert.deepEqual(JSON.parse(written.out), { file, nodes: nodes.length })
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), nodes)
  })

  it('imports into a directory: the topic has its configs again', async () => {
    const data = join(folder, 'data')
    const file = join(folder, 'znodes.json')
    let broker = await startBroker({ directory: data })
    await mq(['-b', broker.bootstrap, 'topics', 'create', 'orders', '-c', 'retention.ms=77000'])
    await broker.close()
    await mq(['metadata', 'export', file, '--data', data])
    broker = await startBroker({ directory: data })
    await mq(['-b', broker.bootstrap, 'configs', 'unset', 'orders', 'retention.ms'])
    await broker.close()
    const imported = await mq(['--json', 'metadata', 'import', file, '--data', data])
    assert.equal(imported.code, 0, imported.error)
    assert.ok(JSON.parse(imported.out).nodes > 0)
    broker = await startBroker({ directory: data })
    try {
      const { out } = await mq(['-b', broker.bootstrap, '--json', 'configs', 'describe', 'orders'])
      assert.ok(
        JSON.parse(out).some((each: { name: string; value: string }) => each.name === 'retention.ms' && each.value === '77000'),
      )
    } finally {
      await broker.close()
    }
  })

  it('carries every persistent node that a broker needs, and no other', async () => {
    const data = join(folder, 'data')
    let broker = await startBroker({ directory: data })
    for (const args of ['orders -p 2 -c retention.ms=77000 -c cleanup.policy=compact', 'plain -p 1'])
      assert.equal((await mq(['-b', broker.bootstrap, 'topics', 'create', ...args.split(' ')])).code, 0)
    await broker.close()
    broker = await startBroker({ directory: data })
    const producer = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING }).producer({ idempotent: true })
    await producer.connect()
    await producer.send({ topic: 'orders', messages: [{ key: 'k', value: 'takes a producer id' }] })
    await producer.disconnect()
    // As a kill would leave it, with the sessions of the broker still open.
    const killed = join(folder, 'killed')
    cpSync(data, killed, { recursive: true })
    writeFileSync(join(killed, '.lock'), '')
    await broker.close()

    const ofFile = (file: string, pattern: RegExp): string => pattern.exec(readFileSync(join(data, file), 'utf8'))![1]!
    const clusterId = ofFile('meta.properties', /^cluster\.id=(.*)$/m)
    const brokerId = Number(ofFile('meta.properties', /^broker\.id=(.*)$/m))
    const topicOf = (name: string, partitions: number) => ({
      partitions: Object.fromEntries(Array.from({ length: partitions }, (_, at) => [at, [brokerId]])),
      topic_id: ofFile(`${name}-0/partition.metadata`, /^topic_id: (.*)$/m),
      adding_replicas: {},
      removing_replicas: {},
      version: 3,
    })
    const state = { controller_epoch: 1, leader: brokerId, version: 1, leader_epoch: 0, isr: [brokerId] }
    for (const directory of [data, killed]) {
      const { code, out, error } = await mq(['metadata', 'export', '--data', directory])
      assert.equal(code, 0, error)
      const nodes = JSON.parse(out) as Node[]
      const json = (path: string) => nodes.find((node) => node.path === path)?.json
      assert.deepEqual(json('/cluster/id'), { version: '1', id: clusterId })
      assert.deepEqual(json('/brokers/topics/orders'), topicOf('orders', 2))
      assert.deepEqual(json('/brokers/topics/plain'), topicOf('plain', 1))
      for (const path of ['orders/partitions/0', 'orders/partitions/1', 'plain/partitions/0'])
        assert.deepEqual(json(`/brokers/topics/${path}/state`), state, path)
      assert.deepEqual(json('/config/topics/orders'), {
        version: 1,
        config: { 'retention.ms': '77000', 'cleanup.policy': 'compact' },
      })
      assert.deepEqual(json('/config/topics/plain'), { version: 1, config: {} })
      assert.deepEqual(json('/latest_producer_id_block'), { version: 1, broker: brokerId, block_start: '0', block_end: '999' })
      assert.equal(nodes.find(({ path }) => path === '/controller_epoch')?.data, '2')
      assert.deepEqual(
        nodes.filter(({ path, ephemeral }) => ephemeral || /^\/(controller|brokers\/ids\/.*|mq.*)$/.test(path)),
        [],
      )
      // In the form of the trees that were read from real ZooKeepers: the same fields, parents first.
      const given = vectors.json<Node[]>('znodes/one-broker-stopped.json')
      const fieldsOf = (list: readonly Node[], path: string) => Object.keys(list.find((node) => node.path === path)!)
      for (const path of ['/', '/cluster/id', '/controller_epoch', '/brokers/topics', '/latest_producer_id_block'])
        assert.deepEqual(fieldsOf(nodes, path), fieldsOf(given, path), path)
      assert.ok(nodes.every(({ path }) => path === '/' || nodes.some((node) => node.path === (dirname(path) || '/'))))
    }
  })

  it('takes in and gives out again what it has no use for itself: users, quotas, access rules', async () => {
    const data = join(folder, 'data')
    await (await startBroker({ directory: data })).close()
    const given = vectors
      .json<Node[]>('znodes/one-broker-stopped.json')
      .filter(({ path }) => /^\/(config\/(users|clients|ips|brokers)|kafka-acl(-extended)?)\/./.test(path))
    const file = join(folder, 'znodes.json')
    writeFileSync(file, JSON.stringify(given))
    const imported = await mq(['--json', 'metadata', 'import', file, '--data', data])
    assert.equal(imported.code, 0, imported.error)
    const nodes = JSON.parse((await mq(['metadata', 'export', '--data', data])).out) as Node[]
    assert.ok(given.length > 10)
    for (const { path, data: text } of given) assert.equal(nodes.find((node) => node.path === path)?.data, text, path)
  })

  it('exits with 1 for a directory that no broker used or a file that is no tree, with 2 without a directory', async () => {
    const unused = await mq(['metadata', 'export', '--data', join(folder, 'nothing')])
    assert.equal(unused.code, 1)
    assert.match(unused.error, /no broker has used this directory/)
    const file = join(folder, 'broken.json')
    writeFileSync(file, '{ not json')
    assert.equal((await mq(['metadata', 'import', file, '--data', folder])).code, 1)
    assert.equal((await mq(['metadata', 'export'])).code, 2)
  })
})
