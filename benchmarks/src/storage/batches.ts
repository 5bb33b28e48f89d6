/** The batches that all contestants append: 16 KiB each, 16 records, uncompressed; in a file, so that those in other languages get the same bytes. */

import { readFileSync, writeFileSync } from 'node:fs'
import { BatchBuilder, RECORD_BATCH } from '@mq/protocol'

const RECORDS = 16
/** Makes a batch of 16,381 bytes. */
const VALUE_BYTES = 1011
/** 4 MiB: more than a core's own caches, less than what all cores share, as with what a socket just brought. */
const BATCHES = 256

export function writeBatches(path: string): void {
  const pieces: Buffer[] = []
  for (let number = 0; number < BATCHES; number++) {
    const builder = new BatchBuilder({})
    for (let record = 0; record < RECORDS; record++)
      builder.tryAppend({ timestamp: Date.now(), key: null, value: Buffer.alloc(VALUE_BYTES, `${number} ${record} `) })
    const batch = builder.build()
    const size = Buffer.alloc(4)
    size.writeInt32BE(batch.length)
    pieces.push(size, batch)
  }
  writeFileSync(path, Buffer.concat(pieces))
}

/** Each in memory of its own. */
export function readBatches(path: string): Buffer[] {
  const bytes = readFileSync(path)
  const batches: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readInt32BE(at)
    const batch = Buffer.allocUnsafeSlow(size)
    bytes.copy(batch, 0, at + 4, at + 4 + size)
    batches.push(batch)
    at += 4 + size
  }
  return batches
}

/** As a client sends it: the last append wrote its offset there. */
export function asSent(batch: Buffer): Buffer {
  RECORD_BATCH.baseOffset.set(batch, 0, 0)
  return batch
}
