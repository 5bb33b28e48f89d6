/**
 * `npm run bench:delay`: how late the event loop of a broker is under a light load while a directory is recovered beside it, a topic is
 * deleted, a log is compacted. `--gigabytes 10` for the long one (default 1), `--rounds 3` for a spread (default 1).
 */

import { fork } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Kafka, logLevel } from '@mq/client'
import { DEFAULT_TOPIC_CONFIG, LogDirectories, nodeEnvironment } from '@mq/log'
import { BatchBuilder } from '@mq/protocol'
import type { Delays, Done, Order } from './delay-broker.js'
import { flagsOf } from './flags.js'
import { type Row, report } from './report.js'
import { spreadOf } from './statistics.js'

const { gigabytes: GIGABYTES = 1, rounds: ROUNDS = 1 } = flagsOf({ gigabytes: { kind: 'number' }, rounds: { kind: 'number' } })

const RECORD_BYTES = 1024
const RECORDS_A_BATCH = 900
const BATCHES = Math.round((GIGABYTES * 2 ** 30) / (RECORD_BYTES * RECORDS_A_BATCH))
/** Distinct keys of the log that is compacted. */
const KEYS = 10_000
/** Records a second of the light load, each sent alone and read again. */
const LIGHT_PER_SECOND = 100
/** The loop with nothing but the light load, for comparison. */
const QUIET_MS = 5000
const POLL_MS = 50
const TARGET_MS = 20

interface Watched extends Delays {
  readonly seconds: number
}

async function main(): Promise<void> {
  const rounds = new Map<string, Watched[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const [what, watched] of await oneRound()) rounds.set(what, [...(rounds.get(what) ?? []), watched])
  }
  const rows: Row[] = [...rounds].flatMap(([what, all]) => [
    { what: `${what}: p50`, unit: 'ms', ours: spreadOf(all.map(({ p50 }) => p50)) },
    { what: `${what}: p99`, unit: 'ms', ours: spreadOf(all.map(({ p99 }) => p99)), target: { atMost: TARGET_MS, of: 'ours' } },
    { what: `${what}: max`, unit: 'ms', ours: spreadOf(all.map(({ max }) => max)) },
    { what: `${what}: took`, unit: 's', ours: spreadOf(all.map(({ seconds }) => seconds)) },
  ])
  report(GIGABYTES === 1 ? 'delay' : `delay-${GIGABYTES}gb`, rows)
}

async function oneRound(): Promise<[string, Watched][]> {
  const folder = mkdtempSync(join(tmpdir(), 'mq-delay-'))
  const [data, killed] = [join(folder, 'data'), join(folder, 'killed')]
  const child = fork(join(__dirname, 'delay-broker.js'))
  const ask = <Answer extends Done>(order: Order) =>
    new Promise<Answer>((done) => {
      child.once('message', (answer) => done(answer as Answer))
      child.send(order)
    })
  try {
    const configs = { 'log.cleaner.backoff.ms': '1000', 'log.cleaner.delete.retention.ms': '0' }
    const { bootstrap } = await ask<{ bootstrap: string }>({ kind: 'start', directory: data, configs })
    const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING })
    const admin = kafka.admin()
    await admin.connect()
    await admin.createTopics({
      topics: [
        { topic: 'light', numPartitions: 1 },
        topicOf('deleted', { 'file.delete.delay.ms': '0' }),
        topicOf('compacted', { 'segment.bytes': String(100 << 20) }),
      ],
    })
    for (const topic of ['deleted', 'compacted']) await fill(kafka, topic)
    await writeKilled(killed)
    const light = await startLight(kafka)
    const watch = async (what: string, work: () => Promise<unknown>): Promise<[string, Watched]> => {
      await wait(QUIET_MS / 5)
      await ask({ kind: 'watch' })
      const begun = performance.now()
      await work()
      const seconds = (performance.now() - begun) / 1000
      const told = await ask<Delays>({ kind: 'tell' })
      console.log(`${what}: ${JSON.stringify({ ...told, seconds })}`)
      return [what, { ...told, seconds }]
    }
    const size = `${GIGABYTES} GB`
    const all = [
      await watch('light load alone', () => wait(QUIET_MS)),
      await watch(`recovery of ${size}`, () => ask({ kind: 'recover', directory: killed })),
      await watch(`deletion of ${size}`, async () => {
        await admin.deleteTopics({ topics: ['deleted'] })
        await until(() => !readdirSync(data).some((name) => name.startsWith('deleted-0')))
      }),
      await watch(`cleaning of ${size}`, async () => {
        const entries = [{ name: 'cleanup.policy', value: 'compact' }]
        const rest = [{ name: 'segment.bytes', value: String(100 << 20) }]
        await admin.alterConfigs({
          validateOnly: false,
          resources: [{ type: 2, name: 'compacted', configEntries: [...entries, ...rest] }],
        })
        await until(() => dataBytes(join(data, 'compacted-0')) < (GIGABYTES * 2 ** 30) / 4)
      }),
    ]
    await light.stop()
    await admin.disconnect()
    await ask({ kind: 'stop' })
    child.disconnect()
    return all
  } finally {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

const topicOf = (topic: string, configs: Readonly<Record<string, string>>) => ({
  topic,
  numPartitions: 1,
  configEntries: Object.entries(configs).map(([name, value]) => ({ name, value })),
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await wait(POLL_MS)
}

/** Of the data files that count; the folder changes while it is looked at. */
function dataBytes(folder: string): number {
  const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .reduce((sum, name) => sum + sizeOf(name), 0)
}

async function fill(kafka: Kafka, topic: string): Promise<void> {
  const producer = kafka.producer()
  await producer.connect()
  const value = Buffer.alloc(RECORD_BYTES - 24, 'x')
  let record = 0
  for (let batch = 0; batch < BATCHES; batch++) {
    const messages = Array.from({ length: RECORDS_A_BATCH }, () => ({ key: `key-${record++ % KEYS}`, value }))
    await producer.send({ topic, acks: 1, messages })
  }
  await producer.disconnect()
}

/** Two logs in a directory that nobody closed: all of it has to be scanned. */
async function writeKilled(directory: string): Promise<void> {
  const directories = await LogDirectories.open({
    ...nodeEnvironment,
    dirs: [directory],
    brokerId: 1,
    topicConfig: () => DEFAULT_TOPIC_CONFIG,
  })
  const value = Buffer.alloc(RECORD_BYTES - 24, 'x')
  for (const partition of [0, 1]) {
    const log = await directories.create({ topic: 'killed', partition }, null, DEFAULT_TOPIC_CONFIG)
    for (let batch = 0; batch < BATCHES / 2; batch++) {
      const builder = new BatchBuilder()
      for (let at = 0; at < RECORDS_A_BATCH; at++) builder.tryAppend({ timestamp: Date.now(), key: `key-${at}`, value })
      const outcome = await log.append(builder.build(), { origin: 'client', leaderEpoch: 0 })
      if (outcome.kind === 'refused') throw new Error(outcome.message)
    }
  }
  await directories.abandon()
}

/** A producer that sends one record at a time and a consumer that reads them. */
async function startLight(kafka: Kafka): Promise<{ stop(): Promise<void> }> {
  const producer = kafka.producer()
  const consumer = kafka.consumer({ groupId: 'light' })
  await producer.connect()
  await consumer.connect()
  await consumer.subscribe({ topic: 'light' })
  await consumer.run({ eachMessage: async () => {} })
  let isOn = true
  const value = 'x'.repeat(RECORD_BYTES)
  const sending = (async () => {
    while (isOn) {
      await producer.send({ topic: 'light', messages: [{ value }] })
      await wait(1000 / LIGHT_PER_SECOND)
    }
  })()
  return {
    async stop() {
      isOn = false
      await sending
      await consumer.disconnect()
      await producer.disconnect()
    },
  }
}

void main()
