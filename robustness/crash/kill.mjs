// One story: a writer writes, the broker is killed with -9 in the middle, more than once, and started again on its directory each time.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { compiled, SMALL_JVM } from '../../tools/toolchain/java.mjs'
import { newFolder, startBrokerProcess } from '../broker-process.mjs'
import { RawConnection } from '../fuzz/raw-connection.mjs'
import { acknowledgedIn, readBack } from './read-back.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const TOPIC = 'crashed'
const PARTITIONS = 3
const DOWN_MS = 300

/** How a writer is started. `Missing` where the machine has no Java. */
export const WRITERS = {
  '@mq/client': async () => [process.execPath, join(HERE, 'node-writer.mjs')],
  Java: async () => ['java', ...SMALL_JVM, '-cp', await compiled('crash', HERE, 'kafka-3.9.1'), 'Writer'],
}

/**
 * Kills when `kills` parts of the records are acknowledged (`[1/3, 2/3]`). `afterKill(broker)` runs while the broker is down: tests that show
 * the checker red do harm there. Returns what readBack says, with `acknowledged` (how many), `failed` and `restartMs`.
 */
export async function crashStory({ writer, count, idempotent, kills, afterKill = async () => {} }) {
  const folder = newFolder('crash')
  const data = join(folder, 'data')
  let broker = await startBrokerProcess({ data })
  try {
    await makeTopic(broker.port, TOPIC, PARTITIONS)
    const file = join(folder, 'acknowledged')
    const [program, ...args] = await WRITERS[writer]()
    const child = spawn(program, [...args, broker.bootstrap, TOPIC, String(count), String(idempotent), file], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const writing = watch(child)
    const restartMs = []
    for (const part of kills) {
      await writing.reached(Math.floor(count * part))
      if (writing.hasEnded) throw new Error(`the writer was done before the kill at ${part}: ${writing.said()}`)
      await broker.die()
      await afterKill(broker)
      await new Promise((done) => setTimeout(done, DOWN_MS))
      const began = Date.now()
      broker = await startBrokerProcess({ data, port: broker.port })
      restartMs.push(Date.now() - began)
    }
    await writing.ended
    const acknowledged = acknowledgedIn(file)
    const found = await readBack({ port: broker.port, topic: TOPIC, partitions: PARTITIONS, acknowledged })
    const errors = broker.errors()
    const { code } = await broker.stop()
    return { ...found, acknowledged: acknowledged.length, failed: writing.failed(), restartMs, errors, code }
  } finally {
    await broker.die()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function makeTopic(port, name, numPartitions) {
  const connection = await RawConnection.open(port)
  const { topics } = await connection.ask('CreateTopics', 7, {
    topics: [{ name, numPartitions, replicationFactor: 1, configs: [{ name: 'retention.ms', value: '-1' }] }],
    timeoutMs: 10_000,
  })
  connection.drop()
  if (topics[0].errorCode !== 0) throw new Error(`topic ${name}: error ${topics[0].errorCode}`)
}

/** Reads what a writer prints. */
function watch(child) {
  let acknowledged = 0
  let failed = 0
  let said = ''
  let hasEnded = false
  const waiting = new Set()
  const wake = () => {
    for (const check of waiting) check()
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    said = `${said}${line}\n`.slice(-3000)
    acknowledged = Number(/^acknowledged (\d+)/.exec(line)?.[1] ?? acknowledged)
    failed = Number(/^done \d+ failed (\d+)/.exec(line)?.[1] ?? failed)
    wake()
  })
  child.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-3000)
  })
  const ended = new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code) => {
      hasEnded = true
      wake()
      if (code === 0) done()
      else fail(new Error(`the writer ended with ${code}:\n${said}`))
    })
  })
  ended.catch(() => {})
  return {
    ended,
    said: () => said,
    failed: () => failed,
    get hasEnded() {
      return hasEnded
    },
    reached: (number) =>
      new Promise((done) => {
        const check = () => {
          if (acknowledged < number && !hasEnded) return
          waiting.delete(check)
          done()
        }
        waiting.add(check)
        check()
      }),
  }
}
