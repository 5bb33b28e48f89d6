import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BatchBuilder } from '@mq/protocol'
import fc from 'fast-check'
import { vectors } from '../../../conformance/index.js'
import { nodeDisk } from './disk-node.js'
import { walkDataFileNow } from './jobs/data-file.js'
import { RecoveryWalk } from './jobs/recover.js'
import { ReindexWalk } from './jobs/reindex.js'
import { ReplayWalk } from './jobs/replay.js'
import { ALONE } from './log.test.support.js'
import { LogDirectories } from './log-directories.js'
import { InlineOffload } from './offload.js'
import { WorkerOffload } from './offload-node.js'
import type { Disk, Offload } from './ports.js'
import { numbersOf, takeNumbers } from './producer-numbers.js'
import { ProducerStates } from './producer-state.js'
import { propertyOptions } from './property-options.test.support.js'
import { ManualTime, seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

describe('the state of producers as numbers', () => {
  it('comes back as it went, after any row of batches and markers', () => {
    const sent = fc.record({
      producerId: fc.nat(3),
      producerEpoch: fc.nat(1),
      isTransactional: fc.boolean(),
      marker: fc.constantFrom(null, null, null, true, false),
      maxTimestamp: fc.integer({ min: -1, max: 2 ** 40 }),
    })
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 40 }), fc.nat(40), (batches, highWatermark) => {
        const states = new ProducerStates()
        for (const [offset, { marker, ...batch }] of batches.entries()) {
          states.apply({
            ...batch,
            baseSequence: offset,
            lastSequence: offset,
            baseOffset: offset,
            lastOffset: offset,
            isControl: marker !== null,
            marker: marker === null ? null : { commit: marker, coordinatorEpoch: 4, timestamp: batch.maxTimestamp },
          })
          states.endOffset = offset + 1
        }
        states.highWatermarkMovedTo(Math.floor(highWatermark / 2))
        const again = new ProducerStates()
        takeNumbers(again, numbersOf(states))
        assert.deepEqual([...again.entries], [...states.entries])
        assert.deepEqual([...again.ended], [...states.ended])
        assert.deepEqual([again.endOffset, again.firstUndecidedOffset], [states.endOffset, states.firstUndecidedOffset])
      }),
      propertyOptions(300),
    )
  })
})

describe('a recovery in threads', function () {
  this.timeout(60_000)
  const inline = new InlineOffload(nodeDisk)
  const threads = new WorkerOffload()
  after(() => Promise.all([inline.close(), threads.close()]))

  it('finds the same as one on the loop, in every data file that Kafka wrote', async () => {
    let files = 0
    for (const variant of vectors.datadirs()) {
      const folder = vectors.extractDatadir(variant)
      try {
        for (const path of dataFiles(folder.logs)) {
          const input = {
            path,
            from: 0,
            end: statSync(path).size,
            baseOffset: Number.parseInt(path.slice(-24), 10),
            indexIntervalBytes: 300,
            indexMaxBytes: 65_536,
            latestEpoch: -1,
            producers: numbersOf(new ProducerStates()),
            upTo: 2 ** 40,
          }
          for (const [name, Walked] of [
            ['recover', RecoveryWalk],
            ['reindex', ReindexWalk],
            ['replay', ReplayWalk],
          ] as const) {
            const [here, there] = await Promise.all([inline.run(name, input), threads.run(name, input)])
            assert.deepEqual(plain(there), plain(here), `${variant} ${path}`)
            const file = nodeDisk.openNow(path, 'read')
            const atOnce = walkDataFileNow<unknown>(file, input, new Walked(input))
            file.closeNow()
            assert.deepEqual(plain(atOnce), plain(here), `${variant} ${path}, at once`)
          }
          files++
        }
      } finally {
        folder.remove()
      }
    }
    assert.ok(files > 100, `${files} files`)
  })

  it('leaves the same files and says the same as one on the loop, cut and all', async () => {
    const seen = await Promise.all([outcomeOf(() => inlineOffload()), outcomeOf(() => countingOffload())])
    assert.deepEqual(seen[1]!.files, seen[0]!.files)
    assert.deepEqual(seen[1]!.said, seen[0]!.said)
    assert.deepEqual(seen[1]!.producers, seen[0]!.producers)
    assert.ok(seen[0]!.said.some((line) => line.startsWith('cut at the first bad batch')))
    // The small segment is scanned where it is; each of the other two is handed over.
    assert.deepEqual(jobs, ['recover', 'recover'])
  })
})

/** What was run by `countingOffload`. */
const jobs: string[] = []

function inlineOffload(): Offload {
  return new InlineOffload(nodeDisk)
}

function countingOffload(): Offload {
  const threads: Offload = new WorkerOffload()
  return {
    run(name, input, options) {
      jobs.push(name)
      return threads.run(name, input, options)
    },
    close: () => threads.close(),
  }
}

/** A log of two large segments and a small one before them, killed, with a bit flipped in the last. */
async function outcomeOf(offload: (disk: Disk) => Offload) {
  const folder = mkdtempSync(join(tmpdir(), 'mq-recover-'))
  const said: string[] = []
  const say = (_fields: object, message: string) => void said.push(message)
  const time = new ManualTime()
  const config = { ...DEFAULT_TOPIC_CONFIG, 'segment.bytes': 600_000, 'file.delete.delay.ms': 2 ** 40 }
  const open = () =>
    LogDirectories.open({
      dirs: [folder],
      disk: nodeDisk,
      clock: time,
      timers: time,
      random: seededRandom(7),
      processes: ALONE,
      logger: { info: say, warn: say, error: say },
      offload,
      brokerId: 1,
      topicConfig: () => config,
    })
  try {
    let directories = await open()
    const partition = { topic: 't', partition: 0 }
    const log = await directories.create(partition, null, config)
    const append = async (sequence: number, sizeInBytes: number) => {
      const builder = new BatchBuilder({ producerId: 5, producerEpoch: 0, baseSequence: sequence })
      builder.tryAppend({ timestamp: 1_700_000_000_000 + sequence, key: null, value: Buffer.alloc(sizeInBytes, sequence) })
      const outcome = await log.append(builder.build(), { origin: 'client', leaderEpoch: sequence >> 5 })
      assert.equal(outcome.kind, 'appended')
    }
    for (let sequence = 0; sequence < 10; sequence++) await append(sequence, 1000)
    await log.roll()
    for (let sequence = 10; sequence < 100; sequence++) await append(sequence, 10_000)
    // Nothing of it counts as flushed: all is scanned.
    await log.flush()
    await directories.abandon()
    rmSync(join(folder, 'recovery-point-offset-checkpoint'), { force: true })
    const last = dataFiles(folder).at(-1)!
    const bytes = readFileSync(last)
    bytes[bytes.length - 30_000]! ^= 1
    writeFileSync(last, bytes)
    for (const path of filesOf(folder)) if (path.endsWith('index') || path.endsWith('.snapshot')) rmSync(path)
    said.length = 0
    directories = await open()
    const producers = directories.get(partition)!.producers()
    await directories.close()
    const files = filesOf(folder).map((path) => [path.slice(folder.length), readFileSync(path).toString('base64')])
    return { files: Object.fromEntries(files), said, producers }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

const dataFiles = (folder: string): string[] => filesOf(folder).filter((path) => path.endsWith('.log'))

/** Buffers and Uint8Arrays of the same bytes are the same here. */
function plain(output: unknown): unknown {
  if (output instanceof Uint8Array) return Buffer.from(output).toString('hex')
  if (output instanceof Float64Array || typeof output !== 'object' || output === null) return output
  return Object.fromEntries(Object.entries(output).map(([name, value]) => [name, plain(value)]))
}
