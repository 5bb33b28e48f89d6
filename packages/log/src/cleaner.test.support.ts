/** A compacted log on a disk in memory, and what is in it: for the tests of the cleaner. */
import assert from 'node:assert/strict'
import { endTransactionMarker, iterateBatches } from '@mq/protocol'
import type { PartitionLog } from './log.js'
import { appended, batch, type Harness, type HarnessOptions, harness, produce, type TestBatch } from './log.test.support.js'
import type { Logger } from './ports.js'

export interface CompactedHarness extends Harness {
  /** What was said with `warn` and `error`. */
  readonly said: { readonly level: string; readonly fields: object; readonly text: string }[]
  /** Whether the high watermark stays where it is. */
  lags: boolean
}

/** Cleaned by `runOnce` alone: the cleaner does not begin by itself. */
export async function compacted({ config, directories, ...options }: HarnessOptions = {}): Promise<CompactedHarness> {
  const said: CompactedHarness['said'][number][] = []
  const keep = (level: string) => (fields: object, text: string) => said.push({ level, fields, text })
  const logger: Logger = { info() {}, warn: keep('warn'), error: keep('error') }
  const made = await harness({
    config: { 'cleanup.policy': ['compact'], 'min.cleanable.dirty.ratio': 0, ...config },
    directories: { cleaner: 'waits', logger, ...directories },
    ...options,
  })
  return Object.assign(made, { said, lags: false })
}

/** One batch of `key=value` pairs (`key` alone is a tombstone), at the time that it is. */
export async function put({ log, time, lags }: CompactedHarness, pairs: string, options: TestBatch = {}): Promise<number> {
  const parts = pairs.split(' ').map((pair) => pair.split('='))
  const keys = parts.map(([key]) => key!)
  const values = parts.map(([, value]) => value ?? null)
  const { lastOffset } = appended(await produce(log, batch({ keys, values, timestamp: time.now(), ...options })))
  if (!lags) log.updateHighWatermark(log.logEndOffset)
  return lastOffset
}

export async function end(
  { log, time, lags }: CompactedHarness,
  producerId: number,
  how: 'commit' | 'abort',
  producerEpoch = 0,
): Promise<void> {
  const marker = { producerId, producerEpoch, commit: how === 'commit', coordinatorEpoch: 0, timestamp: time.now() }
  appended(await log.append(endTransactionMarker(marker), { origin: 'coordinator', leaderEpoch: 0 }))
  if (!lags) log.updateHighWatermark(log.logEndOffset)
}

/** Cleans what is due. @returns how many logs were */
export async function clean({ directories }: Harness): Promise<number> {
  const cleaner = directories.cleaner!
  const before = cleaner.cleanings
  while (await cleaner.runOnce());
  return cleaner.cleanings - before
}

/** Everything that is stored: `offset:key=value` of each record, `offset:COMMIT`, `first-last:` for a batch without records. */
export async function stored(log: PartitionLog, from = log.logStartOffset): Promise<string[]> {
  const found: string[] = []
  for (let offset = from; offset < log.logEndOffset; ) {
    const read = await log.read(offset, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
    assert.ok(read.kind === 'read', JSON.stringify(read))
    if (read.sizeInBytes === 0) break
    for (const one of iterateBatches(Buffer.concat(read.slices))) {
      assert.ok(one.crcIsValid())
      const records = [...one.records()].filter((record) => record.offset >= from)
      if (one.recordCount === 0) found.push(`${one.baseOffset}-${one.lastOffset}:`)
      for (const { offset: at, key, value } of records) {
        if (one.isControl) found.push(`${at}:${key!.readInt16BE(2) === 1 ? 'COMMIT' : 'ABORT'}`)
        else found.push(`${at}:${key}${value === null ? '' : `=${value}`}`)
      }
      offset = one.nextOffset
    }
  }
  return found
}
