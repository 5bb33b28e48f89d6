/** The brokers that are measured: ours as its binary, and Apache Kafka 3.9.1 from the toolchain's cache. */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export interface RunningBroker {
  readonly name: string
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

export interface Peer {
  readonly name: string
  start(config?: Record<string, string | number>): Promise<RunningBroker>
}

const ROOT = resolve(__dirname, '..', '..')
const STOP_MS = 15_000

interface ApacheTools {
  startApache(options: {
    port: number
    dir: string
    config: Record<string, string | number>
    javaOptions: string[]
  }): Promise<{ pid?: number; process?: { pid: number }; stop(): Promise<void> }>
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}

/** Resolves when somebody accepts connections. */
export async function listening(port: number, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs
  for (;;) {
    const open = await new Promise<boolean>((done) => {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.once('connect', () => done(true)).once('error', () => done(false))
      socket.once('connect', () => socket.destroy())
    })
    if (open) return
    if (performance.now() > until) throw new Error(`nothing listens on port ${port} after ${limitMs} ms`)
    await new Promise((done) => setTimeout(done, 2))
  }
}

export const mq: Peer = {
  name: 'mq',
  async start(config = {}) {
    const dir = mkdtempSync(join(tmpdir(), 'mq-bench-'))
    const port = await freePort()
    const overrides = { listeners: `PLAINTEXT://127.0.0.1:${port}`, ...config }
    const child = spawn(
      process.execPath,
      [
        join(ROOT, 'packages', 'broker', 'bin', 'mq-broker.js'),
        '--data',
        join(dir, 'data'),
        '--log-level',
        'warn',
        ...Object.entries(overrides).flatMap(([name, value]) => ['--override', `${name}=${value}`]),
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const ended = new Promise<void>((done) => child.once('exit', () => done()))
    await Promise.race([
      listening(port, 20_000),
      ended.then(() => {
        throw new Error(`the broker ended with ${child.exitCode}`)
      }),
    ])
    return {
      name: 'mq',
      port,
      pid: child.pid!,
      async stop() {
        child.kill('SIGTERM')
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
        await ended
        clearTimeout(timer)
        rmSync(dir, { recursive: true, force: true })
      },
    }
  },
}

/** With the heap that Kafka's own start script gives it. */
export const APACHE_HEAP = [
  '-Xmx1G',
  '-Xms1G',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=20',
  '-XX:InitiatingHeapOccupancyPercent=35',
]

export const apache: Peer = {
  name: 'apache 3.9.1',
  async start(config = {}) {
    const tools = (await import(join(ROOT, 'tools', 'apache.mjs'))) as ApacheTools
    const dir = mkdtempSync(join(tmpdir(), 'apache-bench-'))
    const port = await freePort()
    const server = await tools.startApache({ port, dir, config, javaOptions: APACHE_HEAP })
    const pid = server.pid ?? server.process?.pid
    if (pid === undefined) throw new Error('the toolchain does not tell the pid of the broker')
    return {
      name: 'apache 3.9.1',
      port,
      pid,
      async stop() {
        await server.stop()
        rmSync(dir, { recursive: true, force: true })
      },
    }
  },
}
