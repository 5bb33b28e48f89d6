/** Values that say who wrote them and how long they are, and the batches that carry them. */
import { BatchBuilder, iterateBatches } from '@mq/protocol'

/** What stands for a value in the history; the rest of it can be checked from that. */
export function textOf(name: string, sizeInBytes: number): string {
  const head = `${name}:${sizeInBytes}:`
  return head + 'x'.repeat(Math.max(0, sizeInBytes - head.length))
}

/** The name in a value; throws when its bytes are not as they were written. */
export function nameOf(value: Buffer | null): string {
  const text = value?.subarray(0, 60).toString('latin1') ?? 'null'
  const [name = '', size = ''] = text.split(':', 2)
  if (value === null || !value.equals(Buffer.from(textOf(name, Number(size)), 'latin1')))
    throw new Error(`a value is not as it was written: ${text.slice(0, 80)}`)
  return name
}

export interface BatchSpec {
  readonly values: readonly string[]
  readonly timestamp: number
  readonly codec: 'none' | 'gzip'
  readonly sequence?: { readonly producerId: number; readonly producerEpoch: number; readonly baseSequence: number }
}

export function batchOf({ values, timestamp, codec, sequence }: BatchSpec): Buffer {
  const builder = new BatchBuilder({ codec, ...sequence })
  for (const value of values) builder.tryAppend({ timestamp, key: null, value })
  return builder.build()
}

export interface ReadRecord {
  readonly offset: number
  readonly value: string
}

/** The records at or behind `from`. */
export function recordsIn(bytes: Buffer | null, from: number): ReadRecord[] {
  const found: ReadRecord[] = []
  if (bytes === null) return found
  for (const batch of iterateBatches(bytes)) {
    if (!batch.crcIsValid()) throw new Error(`a batch with a wrong checksum at offset ${batch.baseOffset}`)
    for (const { offset, value } of batch.records()) if (offset >= from) found.push({ offset, value: nameOf(value) })
  }
  return found
}
