/** A full offset index of 10 MiB, as one segment of 1 GiB never quite has: entries at uneven distances. And the offsets that are looked up. */

import { writeFileSync } from 'node:fs'

export const ENTRY_BYTES = 8
const INDEX_BYTES = 10 * 1024 * 1024
/** The last 8 KiB: where nearly all readers are. */
const TAIL_ENTRIES = 1000
const PLACES = 1 << 16

/** Numbers in [0, 1) that are the same in each run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export function writeIndex(path: string): void {
  const bytes = Buffer.alloc(INDEX_BYTES)
  const random = seeded(1)
  let offset = 0
  for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
    // Between one and some thousand records lie between two entries, for a while few, for a while many.
    const busy = 1 + 100 * (1 + Math.sin(at / 300_000))
    offset += 1 + Math.floor(random() * busy)
    bytes.writeInt32BE(offset, at)
    bytes.writeInt32BE(at * 100, at + 4)
  }
  writeFileSync(path, bytes)
}

export function placesOf(bytes: Buffer, where: 'random' | 'tail'): Int32Array {
  const last = bytes.readInt32BE(bytes.length - ENTRY_BYTES)
  const from = where === 'tail' ? bytes.readInt32BE(bytes.length - TAIL_ENTRIES * ENTRY_BYTES) : 0
  const random = seeded(2)
  return Int32Array.from({ length: PLACES }, () => from + Math.floor(random() * (last - from)))
}
