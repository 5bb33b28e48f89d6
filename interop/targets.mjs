// What the interop rows run against: our broker, Apache Kafka, or our broker behind a proxy that loses records.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, startApache } from '../tools/apache.mjs'
import { ROOT } from '../tools/toolchain/cache.mjs'

const START_MS = 20_000
const STOP_MS = 15_000

/** The same on both sides: three partitions when a topic appears by itself, few internal partitions. */
const CONFIG = {
  'num.partitions': 3,
  'offsets.topic.num.partitions': 4,
  'group.initial.rebalance.delay.ms': 0,
  'delete.topic.enable': true,
}

/** `at` names a broker of that kind that runs already. */
export async function startTarget(kind, at) {
  if (at !== undefined)
    return { bootstrap: at, kind, startedAt: Date.now(), hasTransactions: kind === 'apache', stop: async () => {} }
  const dir = mkdtempSync(join(tmpdir(), `mq-interop-${kind}-`))
  const target = await { ours: startOurs, apache: startOriginal, broken: startBroken }[kind]({ dir, config: CONFIG })
  return {
    ...target,
    kind,
    startedAt: Date.now(),
    stop: async () => {
      await target.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function startOriginal({ dir, config }) {
  const { bootstrap, stop } = await startApache({ port: await freePort(), dir, config })
  return { bootstrap, stop, hasTransactions: true }
}

/** Starts the binary as a user would; resolves when the port answers. `advertised` is the port that clients are told (a proxy's). */
export async function startOurs({ dir, data = join(dir, 'data'), config = {}, port, advertised }) {
  const listens = port ?? (await freePort())
  const overrides = {
    'broker.id': 1,
    listeners: `PLAINTEXT://127.0.0.1:${listens}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${advertised ?? listens}`,
    ...config,
  }
  const args = Object.entries(overrides).flatMap(([name, value]) => ['--override', `${name}=${value}`])
  const child = spawn(
    process.execPath,
    [join(ROOT, 'packages/broker/bin/mq-broker.js'), '--data', data, '--log-level', 'warn', ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let said = ''
  const keep = (chunk) => {
    said = (said + chunk).slice(-20_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const gone = new Promise((done) => child.once('exit', (code, signal) => done(code ?? signal)))
  for (const deadline = Date.now() + START_MS; !(await answers(listens)); await pause(20)) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`mq-broker ended with ${child.exitCode ?? child.signalCode}:\n${said}`)
    if (Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`mq-broker does not answer after ${START_MS / 1000} s:\n${said}`)
    }
  }
  return {
    bootstrap: `127.0.0.1:${listens}`,
    port: listens,
    pid: child.pid,
    hasTransactions: false,
    said: () => said,
    /** Resolves with its exit code or signal when it is gone, wanted or not. */
    gone,
    kill: async () => {
      child.kill('SIGKILL')
      await gone
    },
    stop: async () => {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      const code = await gone
      clearTimeout(late)
      return code
    },
  }
}

async function startBroken({ dir, config }) {
  const { startLosingProxy } = await import('./losing-proxy.mjs')
  const port = await freePort()
  const broker = await startOurs({ dir, config, advertised: port })
  const proxy = await startLosingProxy({ port, upstream: broker.port, everyNth: 100 })
  return {
    bootstrap: `127.0.0.1:${port}`,
    hasTransactions: false,
    said: broker.said,
    stop: async () => {
      await proxy.close()
      await broker.stop()
    },
  }
}

function answers(port) {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      done(true)
    })
    socket.on('error', () => done(false))
  })
}
