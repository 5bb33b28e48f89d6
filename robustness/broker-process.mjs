// A real broker process on a data directory: started as a user would, killed, stopped, asked for its heap.
import { spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../tools/apache.mjs'
import { ROOT } from '../tools/toolchain/cache.mjs'

const BIN = join(ROOT, 'packages', 'broker', 'bin', 'mq-broker.js')
const PROBE = fileURLToPath(new URL('probe.cjs', import.meta.url))
const START_MS = 60_000
const KEPT_BYTES = 200_000

/** A new folder. `inMemory`: on a file system in memory where the machine has one, for tests that are not about disks. */
export function newFolder(name, { inMemory = false } = {}) {
  return mkdtempSync(join(inMemory && isWritable('/dev/shm') ? '/dev/shm' : tmpdir(), `mq-${name}-`))
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Starts `mq-broker` and resolves when it says that it is ready. `config` are broker configs by name; `advertised` is the port that
 * clients are told (a proxy's); `wrap` puts a command in front (`['prlimit', '--nofile=64']`); `probed` loads the probe that tells the heap.
 */
export async function startBrokerProcess({
  data,
  port,
  advertised,
  config = {},
  wrap = [],
  probed = false,
  logLevel = 'warn',
  env = {},
}) {
  const broker = await spawnBroker({ data, port, advertised, config, wrap, probed, logLevel, env })
  const late = setTimeout(() => broker.kill('SIGKILL'), START_MS)
  try {
    await broker.ready
    return broker
  } finally {
    clearTimeout(late)
  }
}

/** The same without waiting: for brokers that are not expected to start. `ready` rejects when the process ends first. */
export async function spawnBroker({
  data,
  port,
  advertised,
  config = {},
  wrap = [],
  probed = false,
  logLevel = 'warn',
  env = {},
}) {
  const listens = port ?? (await freePort())
  const configs = {
    listeners: `PLAINTEXT://127.0.0.1:${listens}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${advertised ?? listens}`,
    ...config,
  }
  const overrides = Object.entries(configs).flatMap(([name, value]) => ['--override', `${name}=${value}`])
  const node = [process.execPath, ...(probed ? ['--expose-gc', '--require', PROBE] : [])]
  const [program, ...args] = [...wrap, ...node, BIN, '--data', data, '--log-level', logLevel, ...overrides]
  const child = spawn(program, args, {
    stdio: probed ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let stdout = ''
  let stderr = ''
  const errors = []
  let line = ''
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-KEPT_BYTES)
    const lines = (line + chunk).split('\n')
    line = lines.pop()
    // pino: 50 is error. A broker that is well has nothing to say there.
    for (const each of lines) if (/"level":[56]0/.test(each) || !each.startsWith('{')) errors.push(each)
    if (errors.length > 1000) errors.splice(100, errors.length - 1000)
  })
  const ended = new Promise((done) => {
    child.on('error', (error) => done(error.message))
    child.on('close', (code, signal) => done(code ?? signal))
  })
  const ready = new Promise((done, fail) => {
    child.stdout.on('data', (chunk) => {
      stdout += chunk
      if (stdout.includes('\n')) done()
    })
    void ended.then((how) => fail(new Error(`mq-broker ended with ${how} before it was ready:\n${stderr.slice(-3000)}`)))
  })
  ready.catch(() => {})
  return {
    pid: child.pid,
    port: listens,
    bootstrap: `127.0.0.1:${advertised ?? listens}`,
    data,
    ready,
    /** Resolves with the exit code, or the name of the signal. */
    ended,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null
    },
    stderr: () => stderr,
    /** Lines of level error, and lines that are no log lines. */
    errors: () => errors,
    kill: (signal = 'SIGKILL') => child.kill(signal),
    async die() {
      child.kill('SIGKILL')
      return ended
    },
    /** SIGTERM; resolves with the exit code and the ms it took. */
    async stop(signal = 'SIGTERM') {
      const began = Date.now()
      child.kill(signal)
      const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
      const code = await ended
      clearTimeout(late)
      return { code, ms: Date.now() - began }
    },
    /** After a forced collection, in bytes: what the heap holds, what Buffers hold, what the process has. Needs `probed`. */
    measure: () =>
      new Promise((done, fail) => {
        const late = setTimeout(() => fail(new Error('the broker does not answer its probe')), 30_000)
        child.once('message', (told) => {
          clearTimeout(late)
          done(told)
        })
        child.send('measure')
      }),
  }
}
