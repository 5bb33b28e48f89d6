/**
 * Walks the batches of a data file from a position on, in pieces of a megabyte, giving the event loop back between them.
 */
import type { DiskFile } from './ports.js'
import { headerIsWhole, maxTimestampAt, type StoredBatch, storedBatch, storedChecksumAt, storedSizeAt } from './stored-batch.js'

const PIECE = 1 << 20
/**
 * A length may be damaged. One that is larger is held against the checksum before there is memory for the whole batch; Kafka takes
 * memory for whatever the length says, up to the end of the file.
 */
const BELIEVED = 16 << 20
/** Enough for the header of any format. */
const HEADER = 64

/**
 * The whole batches in [from, end). Ends before one that is cut off, and before bytes that are no batch; checksums are the
 * caller's business, but for those of batches larger than 16 MiB. A piece stays in memory as long as its batches do.
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
    const bytes = Buffer.allocUnsafeSlow(Math.min(Math.max(wanted, HEADER), last - position))
    const filled = await file.read(bytes, position)
    if (filled < bytes.length) last = position + filled
    const { batches, taken, missing } = batchesIn(bytes.subarray(0, filled), position, last)
    yield batches
    if (missing === null) return
    position += taken
    if (missing > BELIEVED && !(await checksumMatches(file, position, missing))) return
    wanted = Math.max(missing, PIECE)
  }
}

/** The same in one read, at once: for ranges that are short enough for the event loop. */
export function scanNow(file: DiskFile, from: number, end: number): StoredBatch[] {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - from))
  const filled = file.readNow(bytes, from)
  return batchesIn(bytes.subarray(0, filled), from, from + filled).batches
}

/** The largest time of the first batch, by its header alone; undefined when there is no whole batch at the front of so many bytes. */
export function firstTimestampNow(file: DiskFile, end: number): number | undefined {
  const bytes = Buffer.allocUnsafe(Math.min(HEADER, end))
  const header = bytes.subarray(0, file.readNow(bytes, 0))
  const size = storedSizeAt(header, 0)
  return size === null || size > end || !headerIsWhole(header, 0, size) ? undefined : maxTimestampAt(header, 0)
}

interface Piece {
  readonly batches: StoredBatch[]
  /** Bytes of the batches. */
  readonly taken: number
  /** Size of a batch that the piece cuts off, 0 where that is not known; null when there is no further batch. */
  readonly missing: number | null
}

/** Whole batches at the front of a piece that lies at `position`; the file ends at `last`. */
function batchesIn(bytes: Buffer, position: number, last: number): Piece {
  const batches: StoredBatch[] = []
  let at = 0
  while (at < bytes.length) {
    const left = bytes.length - at
    const size = storedSizeAt(bytes, at)
    if (size === null) {
      const hasEnded = position + bytes.length === last || left >= HEADER
      return { batches, taken: at, missing: hasEnded ? null : 0 }
    }
    const hasEnded = size > last - position - at
    if (size > left) return { batches, taken: at, missing: hasEnded ? null : size }
    if (!headerIsWhole(bytes, at, size)) return { batches, taken: at, missing: null }
    batches.push(storedBatch(bytes, at, size, position + at))
    at += size
  }
  return { batches, taken: at, missing: 0 }
}

/** Of a batch that is too large to be believed: looked at a piece at a time. */
async function checksumMatches(file: DiskFile, position: number, sizeInBytes: number): Promise<boolean> {
  const piece = Buffer.allocUnsafeSlow(PIECE)
  await file.read(piece, position)
  const { crc, sum, from } = storedChecksumAt(piece, 0)
  let reckoned = 0
  for (let at = from; at < sizeInBytes; ) {
    const part = piece.subarray(0, Math.min(PIECE, sizeInBytes - at))
    if ((await file.read(part, position + at)) < part.length) return false
    reckoned = sum(part, 0, part.length, reckoned)
    at += part.length
  }
  return reckoned === crc
}
