/**
 * Walks the batches of a data file from a position on, in pieces of a megabyte, giving the event loop back between them.
 */
import type { DiskFile } from './ports.js'
import { headerIsWhole, type StoredBatch, storedBatch, storedSizeAt } from './stored-batch.js'

const PIECE = 1 << 20
/** Enough for the header of any format. */
const HEADER = 64

/**
 * The whole batches in [from, end). Ends before one that is cut off, and before bytes that are no batch; checksums are the
 * caller's business. A piece stays in memory as long as its batches do.
 */
export async function* scanBatches(file: DiskFile, from: number, end: number): AsyncGenerator<StoredBatch, void, undefined> {
  for await (const piece of scanPieces(file, from, end)) yield* piece
}

/** The same, all batches of a piece at once: for who wants every one of them. A piece may have none. */
export async function* scanPieces(file: DiskFile, from: number, end: number): AsyncGenerator<StoredBatch[], void, undefined> {
  let position = from
  let last = end
  let wanted = PIECE
  while (position < last) {
    const piece = Buffer.allocUnsafeSlow(Math.min(Math.max(wanted, HEADER), last - position))
    const filled = await file.read(piece, position)
    if (filled < piece.length) last = position + filled
    const bytes = piece.subarray(0, filled)
    const found: StoredBatch[] = []
    let at = 0
    wanted = PIECE
    let hasEnded = false
    while (at < filled) {
      const size = storedSizeAt(bytes, at)
      if (size === null) {
        hasEnded = position + filled === last || filled - at >= HEADER
        break
      }
      hasEnded = size > last - position - at
      if (size > filled - at) {
        wanted = size
        break
      }
      hasEnded ||= !headerIsWhole(bytes, at, size)
      if (hasEnded) break
      found.push(storedBatch(bytes, at, size, position + at))
      at += size
    }
    yield found
    if (hasEnded) return
    position += at
  }
}
