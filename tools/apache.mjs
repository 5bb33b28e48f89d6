// Apache Kafka 3.9.1 in ZooKeeper mode, with a ZooKeeper of its own: the arbiter that tests and people ask. See tools/README.md.
import { spawn } from 'node:child_process'
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { classPath, SMALL_JVM } from './toolchain/java.mjs'

const START_MS = 60_000
const STOP_MS = 30_000

/** Starts a ZooKeeper on 127.0.0.1; resolves when it answers. `dir` keeps its tree and its log. */
export async function startZooKeeper({ port, dir }) {
  mkdirSync(dir, { recursive: true })
  const config = join(dir, 'zookeeper.properties')
  writeFileSync(
    config,
    properties({
      dataDir: join(dir, 'zookeeper'),
      clientPort: port,
      clientPortAddress: '127.0.0.1',
      maxClientCnxns: 0,
      'admin.enableServer': false,
      '4lw.commands.whitelist': '*',
      tickTime: 500,
    }),
  )
  const server = await startJava('zookeeper', dir, SMALL_JVM, ['org.apache.zookeeper.server.ZooKeeperServerMain', config])
  await server.whenTrue(() => fourLetters(port))
  return { ...server, connect: `127.0.0.1:${port}` }
}

/**
 * Starts broker 1 (or `brokerId`) on 127.0.0.1:`port` and, unless `zookeeper` names one, a ZooKeeper on `zookeeperPort` (default: a free port).
 * `dir` keeps everything: `dir/logs` is the broker's log directory, `dir/*.log` what the processes said. `config` are rows of server.properties.
 * `javaOptions` replaces the small JVM's options (for measurements).
 */
export async function startApache({ port, dir, zookeeper, zookeeperPort, brokerId = 1, config = {}, javaOptions = SMALL_JVM }) {
  const folder = resolve(dir)
  mkdirSync(folder, { recursive: true })
  const ownZooKeeper =
    zookeeper === undefined ? await startZooKeeper({ port: zookeeperPort ?? (await freePort()), dir: folder }) : undefined
  const file = join(folder, `server-${brokerId}.properties`)
  const logs = join(folder, brokerId === 1 ? 'logs' : `logs-${brokerId}`)
  writeFileSync(
    file,
    properties({
      'broker.id': brokerId,
      listeners: `PLAINTEXT://127.0.0.1:${port}`,
      'log.dirs': logs,
      'zookeeper.connect': zookeeper ?? ownZooKeeper.connect,
      'offsets.topic.replication.factor': 1,
      'transaction.state.log.replication.factor': 1,
      'transaction.state.log.min.isr': 1,
      'group.initial.rebalance.delay.ms': 0,
      ...config,
    }),
  )
  try {
    const broker = await startJava(`broker-${brokerId}`, folder, javaOptions, ['kafka.Kafka', file])
    await broker.whenTrue(() => listens(port))
    return {
      bootstrap: `127.0.0.1:${port}`,
      pid: broker.pid,
      logs,
      zookeeper: zookeeper ?? ownZooKeeper.connect,
      kill: (signal) => broker.kill(signal),
      stop: async () => {
        await broker.stop()
        await ownZooKeeper?.stop()
      },
    }
  } catch (error) {
    await ownZooKeeper?.stop()
    throw error
  }
}

/** Runs one of Kafka's tools by its class (`kafka.tools.DumpLogSegments`, `org.apache.kafka.tools.TopicCommand` …) and returns its output. */
export function runTool(tool, args, { input = '', javaOptions = [], timeoutMs = 120_000 } = {}) {
  return classPath('kafka-3.9.1').then(
    (jars) =>
      new Promise((done, fail) => {
        const child = spawn('java', [...SMALL_JVM, ...javaOptions, '-cp', jars, tool, ...args], { timeout: timeoutMs })
        let stdout = ''
        let stderr = ''
        child.stdout.on('data', (chunk) => {
          stdout += chunk
        })
        child.stderr.on('data', (chunk) => {
          stderr += chunk
        })
        child.stdin.on('error', () => {})
        child.stdin.end(input)
        child.on('error', fail)
        child.on('close', (code, signal) => done({ code: code ?? signal, stdout, stderr }))
      }),
  )
}

export function freePort() {
  return new Promise((done, fail) => {
    const server = createServer()
    server.on('error', fail)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => done(port))
    })
  })
}

async function startJava(name, dir, options, args) {
  const jars = await classPath('kafka-3.9.1')
  const log = join(dir, `${name}.log`)
  const out = openSync(log, 'a')
  const child = spawn('java', [...options, '-cp', jars, ...args], { stdio: ['ignore', out, out] })
  let ended
  const whenEnded = new Promise((done) => {
    const end = (how) => {
      ended = String(how)
      done()
    }
    child.on('error', (error) => end(error.message))
    child.on('exit', (code, signal) => end(code ?? signal))
  })
  return {
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    async whenTrue(isUp) {
      for (const deadline = Date.now() + START_MS; ; await pause(50)) {
        if (ended !== undefined) throw new Error(`${name} ended with ${ended}:\n${readFileSync(log, 'utf8').slice(-3000)}`)
        if (await isUp()) return
        if (Date.now() > deadline) {
          child.kill('SIGKILL')
          throw new Error(`${name} is not up after ${START_MS / 1000} s: ${log}`)
        }
      }
    },
    async stop() {
      if (ended !== undefined) return
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await whenEnded
      clearTimeout(late)
    },
  }
}

function properties(rows) {
  return `${Object.entries(rows)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`
}

function listens(port) {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => done(true))
    socket.on('error', () => done(false))
    socket.on('connect', () => socket.destroy())
  })
}

/** ZooKeeper answers "imok" to the four letters "ruok". */
function fourLetters(port) {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => socket.end('ruok'))
    let said = ''
    socket.setTimeout(1000, () => socket.destroy()) // one that comes while the server starts may be left open, without an answer
    socket.on('data', (chunk) => {
      said += chunk
    })
    socket.on('error', () => done(false))
    socket.on('close', () => done(said === 'imok'))
  })
}

const USAGE = `usage: node tools/apache.mjs start --port PORT --dir DIR [--zookeeper HOST:PORT | --zookeeper-port PORT] [--override name=value ...]
       node tools/apache.mjs zookeeper --port PORT --dir DIR
       node tools/apache.mjs tool CLASS [ARGS ...]
       node tools/apache.mjs classpath`

async function main([command, ...args]) {
  if (command === 'tool' && args.length > 0) {
    const { code, stdout, stderr } = await runTool(args[0], args.slice(1))
    process.stdout.write(stdout)
    process.stderr.write(stderr)
    process.exitCode = Number(code)
    return
  }
  if (command === 'classpath') return console.log(await classPath('kafka-3.9.1'))
  const options = { config: {} }
  for (let at = 0; at < args.length; at += 2) {
    const [flag, value] = [args[at], args[at + 1]]
    if (flag === '--override' && value?.includes('='))
      options.config[value.slice(0, value.indexOf('='))] = value.slice(value.indexOf('=') + 1)
    else if (['--port', '--dir', '--zookeeper', '--zookeeper-port'].includes(flag) && value !== undefined) {
      options[flag.slice(2).replace('-p', 'P')] = value
    } else options.port = undefined
  }
  const start = { start: startApache, zookeeper: startZooKeeper }[command]
  if (start === undefined || options.port === undefined || options.dir === undefined) {
    console.error(USAGE)
    process.exitCode = 2
    return
  }
  const server = await start(options)
  console.log(
    command === 'start'
      ? `ready: ${server.bootstrap} (ZooKeeper ${server.zookeeper}, logs in ${server.logs})`
      : `ready: ${server.connect}`,
  )
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.stop())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
