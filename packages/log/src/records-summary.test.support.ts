/** Records as the expected.json of the given data directories sums them up. */
import { createHash, type Hash } from 'node:crypto'
import type { Record } from '@mq/protocol'

export interface RecordsSummary {
  readonly records: number
  readonly nullValues: number
  readonly firstOffset: number
  readonly lastOffset: number
  readonly sha256: string
  readonly sha256Full: string
}

function int64(hash: Hash, value: number): void {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  hash.update(bytes)
}

function int32(hash: Hash, value: number): void {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  hash.update(bytes)
}

function part(hash: Hash, bytes: Buffer | null): void {
  int32(hash, bytes === null ? -1 : bytes.length)
  if (bytes !== null) hash.update(bytes)
}

export function summary(records: readonly Record[]): RecordsSummary {
  const short = createHash('sha256')
  const full = createHash('sha256')
  for (const record of records) {
    for (const hash of [short, full]) int64(hash, record.offset)
    int64(full, record.timestamp)
    for (const hash of [short, full]) {
      part(hash, record.key)
      part(hash, record.value)
    }
    int32(full, record.headers.length)
    for (const { key, value } of record.headers) {
      part(full, Buffer.from(key))
      part(full, value)
    }
  }
  return {
    records: records.length,
    nullValues: records.filter(({ value }) => value === null).length,
    firstOffset: records[0]?.offset ?? -1,
    lastOffset: records.at(-1)?.offset ?? -1,
    sha256: short.digest('hex'),
    sha256Full: full.digest('hex'),
  }
}
