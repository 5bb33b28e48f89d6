/** A directory that Apache Kafka 3.9.1 is at work in, looked into from outside: followed, verified and dumped, and after a kill. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Kafka, logLevel } from '@mq/client'
import { openDirectoryReadOnly, openLogDirectory, openReadOnly, type ReadOnlyLog } from '@mq/log'
import { mq } from '../testing/memory-terminal.js'

const ROOT = resolve(__dirname, '..', '..', '..', '..')
const LIMIT_MS = 60_000

interface Apache {
  readonly bootstrap: string
  readonly logs: string
  kill(signal: NodeJS.Signals): Promise<unknown>
  stop(): Promise<unknown>
}

interface Tools {
  startApache(options: { port: number; dir: string; config: Record<string, string | number | boolean> }): Promise<Apache>
  freePort(): Promise<number>
}

/** Cleans soon. */
const CONFIG = { 'log.cleaner.backoff.ms': 200 }

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + LIMIT_MS
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited too long until ${what}`)
    await new Promise((go) => setTimeout(go, 50))
  }
}

function everything(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { size, mtimeMs, ino } = statSync(path)
      return [path, size, mtimeMs, ino, createHash('sha256').update(readFileSync(path)).digest('hex')].join(' ')
    })
    .sort()
}

async function recordsOf(log: ReadOnlyLog): Promise<string[]> {
  const found: string[] = []
  for await (const { offset, key, value } of log.records()) found.push(`${offset} ${key}=${value}`)
  return found
}

describe('mq log beside a running Apache Kafka', function () {
  this.timeout(180_000)
  let apache: Apache
  let folder: string
  let kafka: Kafka

  before(async () => {
    const tools = (await import(pathToFileURL(join(ROOT, 'tools', 'apache.mjs')).href)) as Tools
    folder = mkdtempSync(join(tmpdir(), 'mq-log-peer-'))
    apache = await tools.startApache({ port: await tools.freePort(), dir: folder, config: CONFIG })
    kafka = new Kafka({ brokers: [apache.bootstrap], logLevel: logLevel.NOTHING })
    const admin = kafka.admin()
    await admin.connect()
    const small = [
      { name: 'segment.bytes', value: '20000' },
      { name: 'index.interval.bytes', value: '1000' },
    ]
    const compact = [
      { name: 'cleanup.policy', value: 'compact' },
      { name: 'min.cleanable.dirty.ratio', value: '0.01' },
    ]
    await admin.createTopics({
      topics: [
        { topic: 'followed', numPartitions: 1, configEntries: small },
        { topic: 'compacted', numPartitions: 1, configEntries: [...small, ...compact] },
      ],
      waitForLeaders: true,
    })
    await admin.disconnect()
  })
  after(async () => {
    await apache?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const produce = async (topic: string, count: number, keys: number): Promise<string[]> => {
    const producer = kafka.producer()
    await producer.connect()
    const sent: string[] = []
    for (let at = 0; at < count; at++) {
      const value = `v${at}`.padEnd(100, '.')
      sent.push(value)
      await producer.send({ topic, messages: [{ key: `k${at % keys}`, value }] })
    }
    await producer.disconnect()
    return sent
  }

  it('follows a partition over rolls, record by record', async () => {
    const log = await openReadOnly(join(apache.logs, 'followed-0'), { refreshMs: 20 })
    assert.equal(log.inUseBy, 'a Java broker')
    const stop = new AbortController()
    const read: string[] = []
    const following = (async () => {
      for await (const { value } of log.records('earliest', { follow: true, signal: stop.signal })) read.push(String(value))
    })()
    const sent = await produce('followed', 600, 10)
    await until(async () => read.length === sent.length, `${sent.length} records were read`)
    stop.abort()
    await assert.rejects(following)
    assert.deepEqual(read, sent)
    assert.ok(log.stats().segments.length > 3)
    assert.deepEqual(log.damage, [])
    await log.close()
  })

  it('goes on when Java cleans the segments that it reads', async () => {
    const log = await openReadOnly(join(apache.logs, 'compacted-0'))
    const sent = await produce('compacted', 600, 5)
    await until(async () => {
      await log.refresh()
      return log.logEndOffset === sent.length && (await recordsOf(log)).length < sent.length / 2
    }, 'the segments were cleaned')
    const left = new Map<string, string>()
    for await (const { key, value } of log.records()) left.set(String(key), String(value))
    assert.deepEqual(
      [...left].sort(),
      sent
        .slice(-5)
        .map((value, at) => [`k${at}`, value])
        .sort(),
    )
    await log.close()
  })

  it('finds nothing wrong, prints every record, and touches nothing', async () => {
    // Java's cleaner is at work on the other topic.
    const followed = join(apache.logs, 'followed-0')
    const before = everything(followed)
    const { code, out } = await mq(['log', 'verify', apache.logs])
    assert.equal(code, 0, out)
    assert.match(out, /^note: \.lock: in use by a Java broker$/m)
    const dumped = await mq(['--json', 'log', 'dump', followed])
    assert.equal(dumped.out.trim().split('\n').length, 600)
    const directory = await openDirectoryReadOnly(apache.logs)
    for (const log of directory.logs) await log.refresh()
    await directory.close()
    assert.deepEqual(everything(followed), before)
  })

  it('sees the same after a kill as while it ran, and as our own start', async () => {
    const running = await openReadOnly(join(apache.logs, 'followed-0'))
    const expected = await recordsOf(running)
    await running.close()
    await apache.kill('SIGKILL')
    const { code, out } = await mq(['log', 'verify', apache.logs])
    assert.equal(code, 0, out)
    const killed = await openReadOnly(join(apache.logs, 'followed-0'))
    assert.deepEqual(await recordsOf(killed), expected)
    assert.equal(killed.inUseBy, null)
    await killed.close()
    const ours = await openLogDirectory(apache.logs)
    const after: string[] = []
    for await (const { offset, key, value } of ours.get({ topic: 'followed', partition: 0 })!.records())
      after.push(`${offset} ${key}=${value}`)
    await ours.close()
    assert.deepEqual(after, expected)
    assert.equal((await mq(['log', 'verify', apache.logs])).code, 0)
  })
})
