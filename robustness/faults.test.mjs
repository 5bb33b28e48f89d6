// Faults of the machine around a real broker process: taken ports, locked, full, forbidden and vanished directories, no file descriptors left,
// signals under load. It says in one line what is wrong, ends with the code of that, and loses nothing that it acknowledged.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { encodeRequest } from '@mq/protocol'
import { newFolder, spawnBroker, startBrokerProcess } from './broker-process.mjs'
import { makeTopic } from './crash/kill.mjs'
import { Load } from './faults/load.mjs'
import { smallDisk } from './faults/small-disk.mjs'
import { RawConnection } from './fuzz/raw-connection.mjs'
import { itOrSkips } from './skips.mjs'

const STOP_WITHIN_MS = 10_000
/** Another user, where we are root and could write anywhere. */
const AS_NOBODY = process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : []

describe('Faults around a broker', function () {
  this.timeout(90_000)
  const running = []
  const folders = []
  const folder = (name) => {
    const path = newFolder(name)
    folders.push(path)
    return path
  }
  const begin = async (options) => {
    const broker = await startBrokerProcess(options)
    running.push(broker)
    return broker
  }
  /** For brokers that are expected to end before they are ready: exit code, and what was said. */
  const ends = async (options) => {
    const broker = await spawnBroker(options)
    running.push(broker)
    const code = await broker.ended
    return { code, said: broker.stderr() }
  }
  const loaded = async (broker, topic = 'load') => {
    await makeTopic(broker.port, topic, 2)
    return Load.start(broker.port, topic, 2)
  }
  afterEach(async () => {
    for (const broker of running.splice(0)) await broker.die()
    for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
  })

  it('a taken port: exit code 1, one line with the address, and no trace in the directory', async () => {
    const taken = createServer()
    const port = await new Promise((done) => taken.listen(0, '127.0.0.1', () => done(taken.address().port)))
    const data = folder('port')
    const { code, said } = await ends({ data, port })
    taken.close()
    assert.equal(code, 1)
    assert.match(
      said,
      new RegExp(`^mq-broker: cannot listen on 127\\.0\\.0\\.1, port ${port}: [^\\n]*--override listeners=[^\\n]*\\n$`),
    )
    assert.deepEqual(readdirSync(data), [])
  })

  it('a directory of a living broker: exit code 1 and one line; the living one goes on; after kill -9 of it the next one starts', async () => {
    const data = folder('lock')
    const first = await begin({ data })
    const load = await loaded(first)
    await load.reaches(100)
    const { code, said } = await ends({ data })
    assert.equal(code, 1)
    assert.match(said, new RegExp(`^mq-broker: [^\\n]*in use by process ${first.pid}[^\\n]*--data DIR[^\\n]*\\n$`))
    await load.reaches(load.acknowledged + 100)
    await first.die()
    await load.stop()
    const third = await begin({ data })
    assert.deepEqual(await load.missing(third.port), [])
  })

  it('a directory that may not be entered: one line with its name and the flag, exit code 1', async () => {
    const path = folder('forbidden')
    const data = join(path, 'data')
    mkdirSync(data)
    chmodSync(path, 0o755)
    chmodSync(data, 0o500)
    const { code, said } = await ends({ data, wrap: AS_NOBODY })
    chmodSync(data, 0o700)
    assert.equal(code, 1, said)
    assert.match(said, new RegExp(`^mq-broker: [^\\n]*${data}[^\\n]*--data DIR[^\\n]*\\n$`))
  })

  itOrSkips('a full disk at the start: one line, exit code 3; with room it starts', async () => {
    const disk = await smallDisk(folder('full'), '1m')
    try {
      disk.fill()
      const { code, said } = await ends({ data: join(disk.path, 'data'), wrap: disk.wrap })
      assert.equal(code, 3)
      assert.match(said, /^mq-broker: [^\n]*(ENOSPC|no space)[^\n]*--data DIR[^\n]*\n$/i)
      disk.grow('64m')
      const broker = await begin({ data: join(disk.path, 'data'), wrap: disk.wrap })
      const load = await loaded(broker)
      await load.reaches(10)
      await load.stop()
    } finally {
      disk.free()
    }
  })

  itOrSkips(
    'a disk that fills under load: error 56 or a close, then exit code 3; with room all that was acknowledged is there',
    async () => {
      const disk = await smallDisk(folder('fills'), '24m')
      try {
        const data = join(disk.path, 'data')
        const broker = await begin({ data, wrap: disk.wrap })
        const load = await loaded(broker)
        await load.refused()
        assert.ok(load.acknowledged > 0)
        assert.ok(['KAFKA_STORAGE_ERROR', 'closed'].includes(load.refusedBy), load.refusedBy)
        assert.equal(await Promise.race([broker.ended, pause(STOP_WITHIN_MS, 'still there')]), 3)
        assert.match(broker.stderr(), /^mq-broker: [^\n]*\n$/m)
        await load.stop()
        disk.grow('256m')
        const again = await begin({ data, wrap: disk.wrap })
        assert.deepEqual(await load.missing(again.port), [])
      } finally {
        disk.free()
      }
    },
  )

  itOrSkips('one of two disks that fills: its partitions answer error 56, the other ones and the process go on', async () => {
    const disk = await smallDisk(folder('half'), '24m')
    try {
      const whole = folder('whole')
      const broker = await begin({ data: `${whole},${join(disk.path, 'data')}`, wrap: disk.wrap })
      const topics = ['one', 'two', 'three', 'four']
      for (const topic of topics) await makeTopic(broker.port, topic, 2)
      const onWhole = new Set(readdirSync(whole))
      const places = topics.flatMap((topic) =>
        [0, 1].map((partition) => ({ topic, partition, isWhole: onWhole.has(`${topic}-${partition}`) })),
      )
      const [safe, doomed] = [places.find(({ isWhole }) => isWhole), places.find(({ isWhole }) => !isWhole)]
      const other = await Load.start(broker.port, safe.topic, 1, safe.partition)
      const load = await Load.start(broker.port, doomed.topic, 1, doomed.partition)
      await load.refused()
      assert.equal(load.refusedBy, 'KAFKA_STORAGE_ERROR')
      await load.stop()
      await other.reaches(other.acknowledged + 50)
      await other.stop()
      assert.equal(broker.hasEnded, false)
      assert.deepEqual(await other.missing(broker.port), [])
    } finally {
      disk.free()
    }
  })

  it('a directory that is removed: noticed, exit code 3 within seconds', async () => {
    const data = folder('removed')
    const broker = await begin({
      data,
      config: { 'log.flush.offset.checkpoint.interval.ms': 500, 'log.flush.start.offset.checkpoint.interval.ms': 500 },
    })
    const load = await loaded(broker)
    await load.reaches(20)
    rmSync(data, { recursive: true, force: true })
    assert.equal(await Promise.race([broker.ended, pause(20_000, 'still there')]), 3)
    await load.stop()
  })

  it('SIGTERM under load: exit code 0 within 10 s, a clean shutdown, nothing acknowledged lost', async () => {
    const data = folder('term')
    const broker = await begin({ data })
    const load = await loaded(broker)
    await load.reaches(500)
    const { code, ms } = await broker.stop()
    await load.stop()
    assert.equal(code, 0, broker.stderr())
    assert.ok(ms < STOP_WITHIN_MS, `${ms} ms`)
    assert.ok(existsSync(join(data, '.kafka_cleanshutdown')))
    assert.equal(readFileSync(join(data, '.lock'), 'latin1'), '')
    const again = await begin({ data })
    assert.deepEqual(await load.missing(again.port), [])
  })

  /** A client that reads none of its many answers, and one whose fetch waits for half a minute. */
  const crowd = async (broker) => {
    await makeTopic(broker.port, 'quiet', 1)
    const deaf = await RawConnection.open(broker.port)
    deaf.pause()
    for (let round = 0; round < 30; round++) deaf.write(manyRequests(3000))
    const waiting = await RawConnection.open(broker.port)
    const partitions = [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }]
    const fetch = { replicaId: -1, maxWaitMs: 30_000, minBytes: 1, topics: [{ topic: 'quiet', partitions }] }
    waiting.ask('Fetch', 4, fetch).catch(() => {})
    const other = await RawConnection.open(broker.port)
    await other.ask('ApiVersions', 0, {})
    return [deaf, waiting, other]
  }

  it('SIGTERM while one client does not read and another waits: exit code 0 within 10 s', async () => {
    const broker = await begin({ data: folder('deaf') })
    const clients = await crowd(broker)
    const { code, ms } = await broker.stop()
    for (const client of clients) client.drop()
    assert.equal(code, 0, broker.stderr())
    assert.ok(ms < STOP_WITHIN_MS, `${ms} ms`)
  })

  it('SIGTERM while the disk never ends a sync: exit code 1 after 10 s, with a line; nothing acknowledged lost', async () => {
    const data = folder('stuck')
    const stuck = join(folder('preload'), 'stuck.cjs')
    writeFileSync(stuck, `process.on('SIGUSR2', () => { require('node:fs').fdatasync = require('node:fs').fsync = () => {} })`)
    const broker = await begin({ data, env: { NODE_OPTIONS: `--require ${stuck}` } })
    const load = await loaded(broker)
    await load.reaches(200)
    const clients = await crowd(broker)
    broker.kill('SIGUSR2')
    await load.reaches(load.acknowledged + 50)
    const { code, ms } = await broker.stop()
    await load.stop()
    for (const client of clients) client.drop()
    assert.equal(code, 1)
    assert.ok(ms < STOP_WITHIN_MS + 2000, `${ms} ms`)
    assert.match(broker.stderr(), /^mq-broker: not stopped after 10 s, ended$/m)
    const again = await begin({ data })
    assert.deepEqual(await load.missing(again.port), [])
  })

  it('a second signal: the end at once, and nothing acknowledged lost', async () => {
    const data = folder('twice')
    const broker = await begin({ data })
    const load = await loaded(broker)
    await load.reaches(200)
    // A client that reads none of its many answers keeps the first signal waiting.
    const deaf = await RawConnection.open(broker.port)
    deaf.pause()
    for (let round = 0; round < 30; round++) deaf.write(manyRequests(3000))
    await load.reaches(load.acknowledged + 100)
    broker.kill('SIGTERM')
    await pause(100)
    const began = Date.now()
    broker.kill('SIGTERM')
    assert.equal(await broker.ended, 1)
    assert.ok(Date.now() - began < 2000)
    await load.stop()
    const again = await begin({ data })
    assert.deepEqual(await load.missing(again.port), [])
  })

  it('no file descriptor left: those who are connected are served, and newcomers when others have gone', async () => {
    const broker = await begin({ data: folder('descriptors'), wrap: ['prlimit', '--nofile=80'] })
    const load = await loaded(broker)
    await load.reaches(20)
    const crowd = await Promise.all(Array.from({ length: 150 }, () => RawConnection.open(broker.port).catch(() => null)))
    await load.reaches(load.acknowledged + 100)
    for (const one of crowd) one?.drop()
    const late = await connects(broker.port)
    assert.equal((await late.ask('ApiVersions', 0, {})).errorCode, 0)
    late.drop()
    await load.reaches(load.acknowledged + 20)
    await load.stop()
    assert.deepEqual(await load.missing(broker.port), [])
    const { code } = await broker.stop()
    assert.equal(code, 0)
  })
})

/** ApiVersions, so many times in one piece. */
function manyRequests(count) {
  const request = Buffer.concat(encodeRequest({ api: 'ApiVersions', version: 0, correlationId: 1, clientId: 'deaf', body: {} }))
  return Buffer.concat(Array(count).fill(request))
}

/** The broker may still be closing the crowd. */
async function connects(port) {
  for (let attempt = 0; attempt < 40; attempt++, await pause(100)) {
    const one = await RawConnection.open(port).catch(() => null)
    if (one === null) continue
    const answer = await one.ask('ApiVersions', 0, {}, 1000).catch(() => null)
    if (answer !== null) return one
    one.drop()
  }
  throw new Error('no connection is served')
}
