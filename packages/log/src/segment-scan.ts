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
  let position = from
  let last = end
  let wanted = PIECE
  while (position < last) {
    const piece = Buffer.allocUnsafeSlow(Math.min(Math.max(wanted, HEADER), last - position))
    const filled = await file.read(piece, position)
    if (filled < piece.length) last = position + filled
    const bytes = piece.subarray(0, filled)
    let at = 0
    wanted = PIECE
    while (at < filled) {
      const isLastPiece = position + filled === last
      const size = storedSizeAt(bytes, at)
      if (size === null) {
        if (isLastPiece || filled - at >= HEADER) return
        break
      }
      if (size > last - position - at) return
      if (size > filled - at) {
        wanted = size
        break
      }
      if (!headerIsWhole(bytes, at, size)) return
      yield storedBatch(bytes, at, size, position + at)
      at += size
    }
    position += at
  }
}
