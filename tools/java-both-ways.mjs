// A data directory goes from a Java broker to ours and back: each serves what the other wrote, groups go on where they were,
// and the real kafka-dump-log reads every file that was left. Ends with "N passed, N failed".
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Program } from '../interop/program.mjs'
import { CODECS, goOn, produceAndConsume, readAgain, scene, topicsOf } from '../interop/steps.mjs'
import { startOurs } from '../interop/targets.mjs'
import { createTopics } from '../interop/topics.mjs'
import { freePort, runTool, startApache, startZooKeeper } from './apache.mjs'
import { ROOT } from './toolchain/cache.mjs'
import { compiled, SMALL_JVM } from './toolchain/java.mjs'

const DUMP = 'kafka.tools.DumpLogSegments'
/** Small segments and dense indexes, so that there are many files and entries; old timestamps and old groups stay. */
const CONFIG = {
  'broker.id': 1,
  'num.partitions': 3,
  'offsets.topic.num.partitions': 4,
  'group.initial.rebalance.delay.ms': 0,
  'log.segment.bytes': 32768,
  'log.index.interval.bytes': 512,
  'log.retention.ms': -1,
  'offsets.retention.minutes': 2147483647,
  'transactional.id.expiration.ms': 2147483647,
}

let passed = 0
let failed = 0
const dir = mkdtempSync(join(tmpdir(), 'mq-both-ways-'))
try {
  const program = await javaClient()
  if (program !== undefined) await bothWays(program)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function javaClient() {
  try {
    return {
      command: 'java',
      args: [...SMALL_JVM, '-cp', await compiled('interop', join(ROOT, 'interop', 'java'), 'kafka-3.9.1'), 'Interop'],
    }
  } catch (error) {
    console.log(`skipped: Java both ways: ${error.message}`)
    return undefined
  }
}

async function bothWays(client) {
  const zookeeper = await startZooKeeper({ port: await freePort(), dir })
  const startJava = async () => startApache({ port: await freePort(), dir, zookeeper: zookeeper.connect, config: CONFIG })
  const startMq = () => startOurs({ dir, data: join(dir, 'logs'), config: CONFIG })
  const target = { startedAt: Date.now() }
  let on

  /** Runs `work` with a client of `broker` and stops both. */
  async function during(start, title, work) {
    let broker
    await check(`${title} starts`, async () => {
      broker = await start()
    })
    if (broker === undefined) return
    const program = new Program(client.command, [...client.args, broker.bootstrap])
    try {
      const hello = await program.ask({ do: 'hello' })
      on = on === undefined ? scene({ row: 'both', program, hello, target, run: 'ways' }) : { ...on, program }
      await work(broker)
    } catch (error) {
      failed += 1
      console.log(`failed: ${title}: ${error.message}`)
    } finally {
      program.end()
      await check(`${title} stops`, () => broker.stop())
    }
  }

  try {
    await during(startJava, 'a Java broker', async (broker) => {
      await createTopics(broker.bootstrap, topicsOf(on.prefix))
      for (const codec of CODECS) await check(`Java writes ${codec}`, () => produceAndConsume(on, codec))
    })
    await during(startMq, 'ours on its directory', () => serveOn(on, 'ours'))
    await checkDumps(join(dir, 'logs'), 'what Java and we wrote')
    await during(startJava, 'the Java broker again', () => serveOn(on, 'Java'))
    await during(startMq, 'ours again', () => serveOn(on, 'ours again'))
    await checkDumps(join(dir, 'logs'), 'what went to and fro')
  } finally {
    await zookeeper.stop()
  }

  const alone = join(dir, 'alone')
  on = undefined
  await during(
    () => startOurs({ dir, data: alone, config: CONFIG }),
    'ours on a new directory',
    async (broker) => {
      await createTopics(broker.bootstrap, topicsOf(on.prefix))
      for (const codec of CODECS) await check(`we write ${codec}`, () => produceAndConsume(on, codec))
    },
  )
  await checkDumps(alone, 'what we wrote alone')
}

/** Everything written before is there, groups go on where they committed, and what is written now is read. */
async function serveOn(on, who) {
  for (const codec of CODECS) {
    await check(`${who}: all of ${codec} is there`, () => readAgain(on, codec, who.replaceAll(' ', '-')))
    await check(`${who}: the group of ${codec} goes on`, () => goOn(on, codec, { idempotent: codec === 'none' }))
  }
}

async function checkDumps(logs, what) {
  const folders = readdirSync(logs, { withFileTypes: true }).filter((entry) => entry.isDirectory() && /-\d+$/.test(entry.name))
  const files = (pattern, isWanted = () => true) =>
    folders
      .filter(({ name }) => isWanted(name))
      .flatMap(({ name }) =>
        readdirSync(join(logs, name))
          .filter((file) => pattern.test(file))
          .map((file) => join(logs, name, file)),
      )
  const isOffsets = (name) => name.startsWith('__consumer_offsets')
  await check(`kafka-dump-log reads the data of ${what}`, async () => {
    const wanted = files(/\.log$/)
    assert.ok(wanted.length > 10, `only ${wanted.length} data files`)
    const printed = await dump(wanted, ['--deep-iteration', '--print-data-log'])
    assert.ok((printed.match(/^\| offset: /gm) ?? []).length > 1000, 'few records were printed')
  })
  await check(`kafka-dump-log decodes the offsets of ${what}`, async () => {
    const printed = await dump(files(/\.log$/, isOffsets), ['--offsets-decoder'])
    assert.match(printed, /"type":"1","data":\{"group":"both-ways-none-group","topic":"both-ways-none","partition":0\}/)
  })
  await check(`kafka-dump-log finds the indexes of ${what} in agreement with the data`, () =>
    dump(files(/\.(index|timeindex|txnindex)$/), []),
  )
  await check(`kafka-dump-log finds the indexes of ${what} sane`, async () => {
    const wanted = files(/\.(index|timeindex)$/)
    const printed = await dump(wanted, ['--index-sanity-check'])
    assert.equal((printed.match(/passed sanity check|is empty/g) ?? []).length, wanted.length)
  })
  await check(`kafka-dump-log reads the snapshots of ${what}`, () => dump(files(/\.snapshot$/), []))
}

async function dump(files, options) {
  assert.ok(files.length > 0, 'there are no such files')
  const { code, stdout, stderr } = await runTool(DUMP, [...options, '--files', files.join(',')])
  assert.equal(code, 0, stderr.slice(-1500))
  for (const complaint of [
    /^Mismatches in/m,
    /timestamp mismatch/i,
    /isvalid: false/,
    // Compaction leaves gaps: with a clock that is far ahead, these topics are compacted while we look.
    /Non-consecutive offsets in (?!\S*\/__(consumer_offsets|transaction_state)-\d+\/)/,
    /Found .* out of order/i,
    /Exception/,
  ]) {
    const found = complaint.exec(`${stdout}\n${stderr}`)
    assert.equal(found, null, found === null ? '' : `${stdout}\n${stderr}`.slice(found.index, found.index + 600))
  }
  return stdout
}

async function check(name, work) {
  try {
    await work()
    passed += 1
  } catch (error) {
    failed += 1
    console.log(`failed: ${name}: ${error.message.slice(0, 1500)}`)
  }
}
