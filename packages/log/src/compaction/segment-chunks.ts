/** Reads a segment for a cleaning: whole batches, each checked, in chunks of the cleaner's buffer. */
import type { DiskFile } from '../ports.js'
import { headerIsWhole, type StoredBatch, storedBatch, storedBatchProblem, storedSizeAt } from '../stored-batch.js'

/** The segment holds what is no sound batch: it is not cleaned, so that damage is not given a right checksum. */
export class UncleanableError extends Error {
  override readonly name = 'UncleanableError'
  constructor(
    readonly segment: number,
    readonly position: number,
    readonly problem: string,
  ) {
    super(`segment ${segment}, position ${position}: ${problem}`)
  }
}

export interface ChunkOptions {
  readonly baseOffset: number
  readonly sizeInBytes: number
  /** Of a chunk, unless one batch is larger. */
  readonly chunkBytes: number
}

export interface Chunk {
  readonly batches: readonly StoredBatch[]
  readonly sizeInBytes: number
}

/** Enough for the header of any format, whatever `log.cleaner.io.buffer.size` says. */
const SMALLEST_CHUNK = 64

export class SegmentChunks {
  #buffer: Buffer

  constructor(
    readonly file: DiskFile,
    readonly options: ChunkOptions,
  ) {
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(options.chunkBytes, SMALLEST_CHUNK))
  }

  /** The whole batches from a position on; their bytes are good until the next read. @throws UncleanableError, DiskError */
  async read(position: number): Promise<Chunk> {
    for (;;) {
      const left = this.options.sizeInBytes - position
      const into = this.#buffer.subarray(0, Math.min(this.#buffer.length, left))
      const filled = await this.file.read(into, position)
      if (filled < into.length) throw this.#damage(position + filled, 'the data file is shorter than it was')
      const chunk = this.#batchesIn(into, position)
      if (chunk.batches.length > 0) return chunk
      this.#grow(into, position, left)
    }
  }

  #batchesIn(bytes: Buffer, position: number): Chunk {
    const batches: StoredBatch[] = []
    let at = 0
    for (let size = storedSizeAt(bytes, at); size !== null && size <= bytes.length - at; size = storedSizeAt(bytes, at)) {
      if (!headerIsWhole(bytes, at, size)) throw this.#damage(position + at, 'a batch is shorter than its header')
      const batch = storedBatch(bytes, at, size, position + at)
      const problem = storedBatchProblem(batch)
      if (problem !== null) throw this.#damage(position + at, problem)
      batches.push(batch)
      at += size
      if (at === bytes.length) break
    }
    return { batches, sizeInBytes: at }
  }

  /** The first batch is larger than the buffer. */
  #grow(bytes: Buffer, position: number, left: number): void {
    const size = storedSizeAt(bytes, 0)
    if (size === null || size > left) throw this.#damage(position, 'no whole batch')
    this.#buffer = Buffer.allocUnsafeSlow(size)
  }

  #damage(position: number, problem: string): UncleanableError {
    return new UncleanableError(this.options.baseOffset, position, problem)
  }
}
