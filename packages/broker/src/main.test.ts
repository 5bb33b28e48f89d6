// The binary as a user meets it: what it prints, where, how it ends.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RawClient, requestFrame } from './testing/raw-client.js'

const BIN = join(__dirname, '../bin/mq-broker.js')

interface Running {
  readonly process: ChildProcess
  readonly port: number
  readonly readyLine: string
  stderr(): string
  /** Resolves with the exit code, or the name of the signal. */
  readonly ended: Promise<number | string>
}

describe('mq-broker', function () {
  this.timeout(30_000)
  const running: Running[] = []
  const directories: string[] = []
  const directory = () => {
    const path = mkdtempSync(join(tmpdir(), 'mq-main-'))
    directories.push(path)
    return path
  }
  const anyPort = ['--override', 'listeners=PLAINTEXT://127.0.0.1:0']
  const begin = async (...args: string[]): Promise<Running> => {
    const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'], cwd: directory() })
    let stdout = ''
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    const ended = new Promise<number | string>((resolve) => child.on('close', (code, signal) => resolve(code ?? signal ?? '')))
    const readyLine = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (chunk) => {
        stdout += chunk
        if (stdout.includes('\n')) resolve(stdout)
      })
      void ended.then(() => reject(new Error(`ended before it was ready: ${stderr}`)))
    })
    const one = { process: child, port: Number(/:(\d+),/.exec(readyLine)?.[1]), readyLine, stderr: () => stderr, ended }
    running.push(one)
    return one
  }
  const runs = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
      encoding: 'utf8',
      cwd: directory(),
      timeout: 20_000,
    })
    return { status, stdout, stderr }
  }
  afterEach(async () => {
    for (const one of running.splice(0)) {
      one.process.kill('SIGKILL')
      await one.ended
    }
    for (const path of directories.splice(0)) rmSync(path, { recursive: true, force: true })
  })

  it('says in one line on stdout where it is ready, where the data is, and how to try it', async () => {
    const path = directory()
    const { readyLine, port } = await begin('--data', path, ...anyPort)
    assert.equal(readyLine, `mq-broker is ready on 127.0.0.1:${port}, data in ${path}; try: kcat -b 127.0.0.1:${port} -L\n`)
    const client = await RawClient.connect(port)
    assert.equal((await client.ask('ApiVersions', 0, {})).errorCode, 0)
    client.end()
  })

  it('ends with 0 on SIGTERM, SIGINT and SIGHUP, with JSON lines on stderr when that is no terminal', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const one = await begin('--memory', ...anyPort)
      one.process.kill(signal)
      assert.equal(await one.ended, 0)
      const lines = one.stderr().trim().split('\n')
      assert.equal(JSON.parse(lines.at(-1)!).msg, 'stopped')
    }
  })

  it('answers those who wait at the first signal', async () => {
    const one = await begin('--memory', ...anyPort)
    const client = await RawClient.connect(one.port)
    await client.ask('Metadata', 4, { topics: [{ name: 'quiet' }], allowAutoTopicCreation: true })
    const waiting = client.ask('Fetch', 4, {
      replicaId: -1,
      maxWaitMs: 20_000,
      minBytes: 1,
      topics: [{ topic: 'quiet', partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }] }],
    })
    const other = await RawClient.connect(one.port)
    await other.ask('ApiVersions', 0, {}) // the fetch is there by now
    one.process.kill('SIGTERM')
    assert.equal((await waiting).responses[0]!.partitions[0]!.errorCode, 0)
    assert.equal(await one.ended, 0)
    client.end()
    other.end()
  })

  it('ends at once at the second signal', async () => {
    const one = await begin('--memory', ...anyPort)
    // A client that reads nothing of its many answers holds up the orderly stop.
    const deaf = await RawClient.connect(one.port)
    deaf.socket.pause()
    deaf.write(Buffer.concat(Array.from({ length: 100_000 }, () => requestFrame({ key: 18, version: 0 }))))
    const other = await RawClient.connect(one.port)
    for (let round = 0; round < 50; round++) await other.ask('ApiVersions', 0, {})
    one.process.kill('SIGINT')
    while (!other.isClosed) await new Promise((resolve) => setImmediate(resolve))
    one.process.kill('SIGTERM')
    assert.equal(await one.ended, 1)
    assert.match(one.stderr(), /a second signal: stopped at once/)
    deaf.end()
  })

  it('ends with 2 on a usage error, and shows how it is used', () => {
    for (const args of [['--nope'], ['--override', 'x'], ['a', 'b'], ['--log-level', 'loud']]) {
      const { status, stdout, stderr } = runs(...args)
      assert.deepEqual([status, stdout, stderr.includes('--data DIR')], [2, '', true])
    }
    assert.match(runs('--help').stdout, /server\.properties/)
    assert.match(runs('--version').stdout, /^\d+\.\d+\.\d+\n$/)
  })

  it('prints the standalone profile, with overrides', () => {
    const { status, stdout, stderr } = runs('--print-config', '--override', 'num.partitions=4')
    assert.deepEqual([status, stderr], [0, ''])
    const lines = stdout.trim().split('\n')
    assert.equal(
      lines.some((line) => /^listeners=PLAINTEXT:\/\/127\.0\.0\.1:9092(,PLAINTEXT:\/\/\[::1\]:9092)?$/.test(line)),
      true,
    )
    for (const line of ['advertised.listeners=PLAINTEXT://localhost:9092', 'num.partitions=4', 'mq.metadata.store=embedded']) {
      assert.equal(lines.includes(line), true, line)
    }
    assert.match(stdout, /^log\.dirs=.*mq-data$/m)
  })

  it('ends with 1 and one line when the port is taken', async () => {
    const taken = await new Promise<Server>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => resolve(server))
    })
    const { port } = taken.address() as { port: number }
    const { status, stdout, stderr } = runs('--memory', '--override', `listeners=PLAINTEXT://127.0.0.1:${port}`)
    taken.close()
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(
      stderr,
      new RegExp(
        `^mq-broker: cannot listen on 127\\.0\\.0\\.1, port ${port}: the port is taken; .*--override listeners=[^\\n]*\\n$`,
      ),
    )
  })

  it('ends with 1 and one line when another process has the directory, and takes it over after kill -9', async () => {
    const path = directory()
    const first = await begin('--data', path, ...anyPort)
    const { status, stderr } = runs('--data', path, ...anyPort)
    assert.equal(status, 1)
    assert.match(
      stderr,
      new RegExp(`^mq-broker: log directory ${path}: in use by process ${first.process.pid}; .*--data DIR[^\\n]*\\n$`),
    )
    first.process.kill('SIGKILL')
    await first.ended
    const third = await begin('--data', path, ...anyPort)
    assert.match(third.readyLine, /is ready/)
  })

  it('names the key, the value and what is allowed', () => {
    const { status, stderr } = runs('--memory', '--override', 'num.partitions=0')
    assert.deepEqual([status, stderr], [1, 'mq-broker: Invalid value 0 for configuration num.partitions: must be at least 1\n'])
  })

  it('ends with one line when it may not write, or is given a file for a directory', () => {
    const path = directory()
    writeFileSync(join(path, 'file'), '')
    const { status, stderr } = runs('--data', join(path, 'file'), ...anyPort)
    assert.equal(status, 1)
    assert.match(stderr, /^mq-broker: .*file.*--data DIR[^\n]*\n$/)
    if (process.getuid?.() === 0) return // root may write everywhere
    mkdirSync(join(path, 'closed'), { mode: 0o500 })
    assert.match(runs('--data', join(path, 'closed', 'data'), ...anyPort).stderr, /^mq-broker: .*EACCES|permission[^\n]*\n$/)
  })

  it('ends with 3 and one line when the metadata is damaged, and names what it says and what to do', async () => {
    const path = directory()
    const first = await begin('--data', path, ...anyPort)
    first.process.kill('SIGTERM')
    assert.equal(await first.ended, 0)
    writeFileSync(join(path, 'mq-metadata.journal'), 'no journal at all, but long enough for a header')
    const { status, stdout, stderr } = runs('--data', path, ...anyPort)
    assert.deepEqual([status, stdout], [3, ''])
    assert.match(
      stderr,
      /^mq-broker: [^\n]*mq-metadata\.journal cannot be used: [^\n]*; put mq-metadata\.\* back from a copy, or [^\n]*--data DIR[^\n]*\n$/,
    )
  })

  it('ends with 1 and one line when the directory is of another broker, or the metadata has no place', async () => {
    const path = directory()
    const first = await begin('--data', path, ...anyPort)
    first.process.kill('SIGTERM')
    assert.equal(await first.ended, 0)
    const other = runs('--data', path, '--override', 'broker.id=77', ...anyPort)
    assert.equal(other.status, 1)
    assert.match(other.stderr, /^mq-broker: [^\n]*belongs to broker 1001, this is broker 77; [^\n]*--data DIR[^\n]*\n$/)
    writeFileSync(join(path, 'file'), '')
    const nowhere = runs('--data', directory(), '--override', `mq.metadata.dir=${join(path, 'file')}`, ...anyPort)
    assert.equal(nowhere.status, 1)
    assert.match(nowhere.stderr, /^mq-broker: [^\n]*file[^\n]*--override mq\.metadata\.dir=DIR\n$/)
  })

  it('serves on when it runs out of file descriptors', async () => {
    const child = spawn('/bin/sh', ['-c', `ulimit -n 70; exec "$0" "$@"`, process.execPath, BIN, '--memory', ...anyPort], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = new Promise<number | string>((resolve) => child.on('close', (code, signal) => resolve(code ?? signal ?? '')))
    const line = await new Promise<string>((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))))
    const port = Number(/:(\d+),/.exec(line)?.[1])
    running.push({ process: child, port, readyLine: line, stderr: () => '', ended })
    const canary = await RawClient.connect(port)
    const flood = await Promise.allSettled(Array.from({ length: 200 }, () => RawClient.connect(port)))
    assert.equal((await canary.ask('ApiVersions', 0, {})).errorCode, 0)
    const answered = await Promise.allSettled(
      flood.map((one) => (one.status === 'fulfilled' ? one.value.ask('ApiVersions', 0, {}) : Promise.reject(one.reason))),
    )
    const served = answered.filter(({ status }) => status === 'fulfilled').length
    assert.equal(served > 0 && served < 200, true, `${served} of 200 were served`)
    for (const one of flood) if (one.status === 'fulfilled') one.value.end()
    let later: unknown
    while (later === undefined) later = await (await RawClient.connect(port)).ask('ApiVersions', 0, {}).catch(() => undefined)
    assert.equal((await canary.ask('ApiVersions', 0, {})).errorCode, 0)
    canary.end()
  })

  describe('with a server.properties', () => {
    const SHIPPED = `broker.id=0
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=DIR
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.retention.check.interval.ms=300000
zookeeper.connect=localhost:2181
zookeeper.connection.timeout.ms=18000
group.initial.rebalance.delay.ms=0
`
    const file = (text: string) => {
      const path = directory()
      const name = join(path, 'server.properties')
      writeFileSync(name, text.replace('DIR', join(path, 'logs')))
      return name
    }

    it('that names ZooKeeper does not start, and says what to do', () => {
      const { status, stderr } = runs(file(SHIPPED))
      assert.equal(status, 1)
      assert.match(
        stderr,
        /^mq-broker: zookeeper\.connect=localhost:2181 names a ZooKeeper ensemble.*--override mq\.metadata\.store=embedded[^\n]*\n$/,
      )
    })

    it('starts with the embedded metadata store, as the broker that the file names', async () => {
      const one = await begin(file(SHIPPED), '--override', 'mq.metadata.store=embedded', ...anyPort)
      const client = await RawClient.connect(one.port)
      const { brokers } = await client.ask('Metadata', 1, { topics: [] })
      assert.equal(brokers[0]!.nodeId, 0)
      client.end()
      one.process.kill('SIGTERM')
      assert.equal(await one.ended, 0)
      assert.match(one.stderr(), /without effect in this version: .*zookeeper\.connection\.timeout\.ms/)
    })

    it('of KRaft starts without its controller, with one warning', async () => {
      const text = `process.roles=broker,controller
node.id=7
controller.quorum.voters=7@localhost:9093
listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:9093
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
log.dirs=DIR
`
      const one = await begin(file(text))
      const client = await RawClient.connect(one.port)
      assert.equal((await client.ask('Metadata', 1, { topics: [] })).brokers[0]!.nodeId, 7)
      client.end()
      one.process.kill('SIGTERM')
      assert.equal(await one.ended, 0)
      const warnings = one
        .stderr()
        .split('\n')
        .filter((line) => line.includes('"level":40'))
      assert.equal(warnings.length, 1)
      assert.match(warnings[0]!, /there is no KRaft here: ignored process\.roles, controller\.quorum\.voters/)
    })

    it('that cannot be read is named', () => {
      const { status, stderr } = runs('/no/such/server.properties')
      assert.deepEqual([status, stderr.startsWith('mq-broker: cannot read /no/such/server.properties: ENOENT')], [1, true])
    })
  })
})
