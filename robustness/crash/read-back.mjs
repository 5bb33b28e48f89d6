// Reads a topic whole, with plain fetches, and holds it against what was acknowledged: nothing missing, nothing changed, and where the
// producer was idempotent nothing twice and all in order.
import { readFileSync } from 'node:fs'
import { iterateBatches } from '@mq/protocol'
import { RawConnection } from '../fuzz/raw-connection.mjs'
import { keyFor, valueFor } from './pattern.mjs'

const MAX_BYTES = 4 * 1024 * 1024
const NAMED = 10

/**
 * Returns `{ records, missing, changed, repeated, disordered }`: how many records were read, and numbers (the first few) of those that were
 * acknowledged and are not there, have other bytes, are there more than once, come after a later one of their partition.
 */
export async function readBack({ port, topic, partitions, acknowledged }) {
  const connection = await RawConnection.open(port)
  const seen = new Map()
  const found = { records: 0, missing: [], changed: [], repeated: [], disordered: [] }
  for (let partition = 0; partition < partitions; partition++) {
    let last = -1
    let expectedOffset
    for await (const record of recordsOf(connection, topic, partition)) {
      found.records++
      const index = Number(record.key)
      if (expectedOffset !== undefined && record.offset !== expectedOffset)
        note(found.changed, `offset ${record.offset} after ${expectedOffset - 1}`)
      expectedOffset = record.offset + 1
      if (!Number.isInteger(index) || record.key.toString() !== keyFor(index) || !valueFor(index).equals(record.value))
        note(found.changed, index)
      if (seen.has(index)) note(found.repeated, index)
      else seen.set(index, true)
      if (index < last) note(found.disordered, index)
      last = index
    }
  }
  for (const index of acknowledged) if (!seen.has(index)) note(found.missing, index)
  connection.drop()
  return found
}

/** Numbers as the writers keep them: 4 bytes each. */
export function acknowledgedIn(file) {
  const bytes = readFileSync(file)
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readInt32BE(4 * at))
}

async function* recordsOf(connection, topic, partition) {
  for (let fetchOffset = 0; ; ) {
    const { responses } = await connection.ask('Fetch', 11, {
      replicaId: -1,
      maxWaitMs: 0,
      minBytes: 0,
      maxBytes: MAX_BYTES,
      topics: [{ topic, partitions: [{ partition, fetchOffset, partitionMaxBytes: MAX_BYTES }] }],
    })
    const { errorCode, records, highWatermark } = responses[0].partitions[0]
    if (errorCode !== 0) throw new Error(`fetch of ${topic}-${partition} at ${fetchOffset}: error ${errorCode}`)
    if (fetchOffset >= highWatermark) return
    for (const batch of iterateBatches(records)) {
      if (!batch.crcIsValid()) throw new Error(`${topic}-${partition}: wrong CRC at offset ${batch.baseOffset}`)
      yield* batch.records()
      fetchOffset = batch.nextOffset
    }
  }
}

function note(list, what) {
  if (list.length < NAMED) list.push(what)
}
