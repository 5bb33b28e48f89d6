import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { iterateBatches } from '@mq/protocol'
import { nodeDisk, nodeProcesses } from './disk-node.js'
import { PARTITION } from './log.test.support.js'
import { LogDirectories } from './log-directories.js'
import { ManualTime, seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

/** Runs the appending process and kills it once it has said so many offsets; what it said till it was gone. */
function appendAndKill(folder: string, first: number, answersBeforeKill: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(__dirname, 'kill-child.test.support.js'), folder, String(first)])
    let said = ''
    let lines = 0
    let errors = ''
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes
      for (const byte of bytes) if (byte === 10) lines++
      if (lines >= answersBeforeKill) child.kill('SIGKILL')
    })
    child.stderr.on('data', (bytes: Buffer) => {
      errors += bytes
    })
    child.on('error', reject)
    child.on('close', (_, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the process ended by itself: ${errors}`))
      else resolve(Number(said.trimEnd().split('\n').at(-1)))
    })
  })
}

describe('a process that is killed while it appends', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mq-kill-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('loses nothing that it had answered, in six rounds on one directory', async function () {
    this.timeout(60_000)
    const random = seededRandom(Number(process.env.SEED ?? 1))
    let next = 0
    for (let round = 0; round < 6; round++) {
      const lastAnswered = await appendAndKill(folder, next, 50 + Math.floor(random.next() * 700))
      const time = new ManualTime(Date.UTC(2023, 10, 15))
      const directories = await LogDirectories.open({
        dirs: [folder],
        disk: nodeDisk,
        clock: time,
        timers: time,
        random,
        processes: nodeProcesses,
        brokerId: 1,
        topicConfig: () => DEFAULT_TOPIC_CONFIG,
      })
      assert.equal(directories.wasCleanShutdown(folder), false)
      const log = directories.get(PARTITION)!
      assert.ok(log.logEndOffset > lastAnswered, `ends at ${log.logEndOffset}, ${lastAnswered} was answered`)
      for (let offset = 0; offset < log.logEndOffset; ) {
        const read = await log.read(offset, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
        assert.ok(read.kind === 'read' && read.sizeInBytes > 0)
        for (const one of iterateBatches(Buffer.concat(read.slices))) {
          assert.ok(one.crcIsValid())
          for (const record of one.records()) assert.equal(Number(String(record.value).split(' ')[0]), record.offset)
          offset = one.nextOffset
        }
      }
      assert.equal(log.producers()[0]!.lastSequence, log.logEndOffset - 1)
      next = log.logEndOffset
      // Half of the rounds go on after another kill, without a clean stop in between.
      if (round % 2 === 0) await directories.close()
      else await directories.abandon()
    }
  })
})
