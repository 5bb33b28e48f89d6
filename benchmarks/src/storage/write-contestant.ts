/** The contestant of `bench:write` in Node.js: our log's append, and the limits that the file system and the checksum set. */

import { closeSync, fdatasyncSync, openSync, rmSync, writevSync } from 'node:fs'
import { type Appended, nodeEnvironment, type PartitionLog, type Refused } from '@mq/log'
import { crc32c, RECORD_BATCH } from '@mq/protocol'
import { build } from 'hdr-histogram-js'
import { asSent, readBatches } from './batches.js'
import { countingDisk, type Writes } from './counting-disk.js'
import { obey } from './orders.js'
import { openLogs } from './our-log.js'
import { beginUsage, type Usage } from './usage.js'

const OPTIONS = { origin: 'client', leaderEpoch: 0 } as const

const batches = readBatches(process.argv[2]!)
const batchBytes = batches[0]!.length
let turn = 0
const nextBatch = (): Buffer => asSent(batches[turn++ % batches.length]!)

function check(outcome: Appended | Refused): void {
  if (outcome.kind === 'refused') throw new Error(`${outcome.error}: ${outcome.message}`)
}

async function appendSingly(log: PartitionLog, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const outcome = log.append(nextBatch(), OPTIONS)
    check(outcome instanceof Promise ? await outcome : outcome)
  }
}

/** So many callers, each of which waits for its answer before it appends again; the logs take turns. */
async function appendTogether(
  logs: readonly PartitionLog[],
  callers: number,
  count: number,
  tookMs?: (ms: number) => void,
): Promise<void> {
  let given = 0
  const caller = async (): Promise<void> => {
    while (given < count) {
      const log = logs[given++ % logs.length]!
      const began = tookMs === undefined ? 0 : performance.now()
      check(await log.append(nextBatch(), OPTIONS))
      tookMs?.(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

function writev(path: string, count: number, batchesAWrite: number, withCrc: boolean): Usage {
  const file = openSync(path, 'w')
  const end = beginUsage()
  let position = 0
  for (let at = 0; at < count; at += batchesAWrite) {
    const slices = Array.from({ length: Math.min(batchesAWrite, count - at) }, nextBatch)
    if (withCrc)
      for (const batch of slices)
        if (crc32c(batch, RECORD_BATCH.attributes.at) !== RECORD_BATCH.crc.get(batch, 0)) throw new Error('wrong CRC')
    position += writevSync(file, slices, position)
  }
  const usage = end(count, position)
  closeSync(file)
  rmSync(path)
  return usage
}

/** One after the other, each durable before the next: what a lone caller can get at best. */
function writeDurably(path: string, count: number): Usage {
  const file = openSync(path, 'w')
  const end = beginUsage()
  let position = 0
  for (let at = 0; at < count; at++) {
    position += writevSync(file, [nextBatch()], position)
    fdatasyncSync(file)
  }
  const usage = end(count, position)
  closeSync(file)
  rmSync(path)
  return usage
}

const MICROSECONDS = 1000

void obey({
  async single(dir, count) {
    const { logs, close } = await openLogs(dir!)
    const end = beginUsage()
    await appendSingly(logs[0]!, Number(count))
    const usage = end(Number(count), Number(count) * batchBytes)
    await close()
    return usage
  },

  async gathered(dir, count, callers) {
    const { logs, close } = await openLogs(dir!, { gathered: true })
    const end = beginUsage()
    await appendTogether(logs, Number(callers), Number(count))
    const usage = end(Number(count), Number(count) * batchBytes)
    await close()
    return usage
  },

  /** Answers wait for the disk. */
  async durable(dir, partitions, callers, count) {
    const { logs, close } = await openLogs(dir!, {
      gathered: true,
      partitions: Number(partitions),
      config: { 'flush.messages': 1 },
    })
    const end = beginUsage()
    await appendTogether(logs, Number(callers), Number(count))
    const usage = end(Number(count), Number(count) * batchBytes)
    await close()
    return usage
  },

  /** How many batches one write to the file takes along, when so many callers append. */
  async shape(dir, count, callers) {
    const writes: Writes = { count: 0, bytes: 0 }
    const { logs, close } = await openLogs(dir!, { gathered: true, disk: countingDisk(nodeEnvironment.disk, writes) })
    await appendTogether(logs, Number(callers), Number(count))
    await close()
    return { batchesAWrite: writes.bytes / writes.count / batchBytes }
  },

  /** From the call to its answer, in microseconds. One caller alone waits for no other's turn. */
  async latency(dir, count, callers) {
    const histogram = build({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: 3 })
    const { logs, close } = await openLogs(dir!, { gathered: Number(callers) > 1 })
    await appendTogether(logs, Number(callers), Number(count), (ms) =>
      histogram.recordValue(Math.max(1, Math.round(ms * MICROSECONDS))),
    )
    await close()
    return {
      p50: histogram.getValueAtPercentile(50),
      p99: histogram.getValueAtPercentile(99),
      p999: histogram.getValueAtPercentile(99.9),
      max: histogram.maxValue,
    }
  },

  fdatasync: (path, count) => writeDurably(path!, Number(count)),
  writev: (path, count, batchesAWrite) => writev(path!, Number(count), Number(batchesAWrite), false),
  'writev-crc': (path, count, batchesAWrite) => writev(path!, Number(count), Number(batchesAWrite), true),
})
