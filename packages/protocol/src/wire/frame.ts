// A byte stream cut into frames: four bytes of size, then as many bytes. A frame's memory grows as its bytes arrive, never by the
// size that it announces.

import { EMPTY_BYTES } from './primitives.js'

/** The size before a frame is impossible: the stream cannot be followed any further. */
export class FrameSizeError extends Error {
  override readonly name: string = 'FrameSizeError'
  constructor(
    readonly size: number,
    message = `frame size ${size} is negative`,
  ) {
    super(message)
  }
}

export class FrameTooLarge extends FrameSizeError {
  override readonly name = 'FrameTooLarge'
  constructor(
    size: number,
    readonly limitBytes: number,
  ) {
    super(size, `frame of ${size} bytes, more than ${limitBytes}`)
  }
}

const SIZE_BYTES = 4

export class FrameReader {
  /** Holds the unfinished frame from its size on; capacity at most doubles what has arrived. */
  #held: Buffer = EMPTY_BYTES
  #heldBytes = 0

  constructor(readonly limitBytes: number) {}

  /** Bytes held for a frame that is not complete. */
  get pendingBytes(): number {
    return this.#heldBytes
  }

  /**
   * Takes the next bytes of the stream and returns the frames that are complete now, without their size. A frame that lies whole
   * in one chunk is a view of it. Throws FrameSizeError or FrameTooLarge; the reader is of no use afterwards.
   */
  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = []
    let at = 0
    if (this.#heldBytes > 0) {
      at = this.#hold(chunk, 0, SIZE_BYTES)
      if (this.#heldBytes < SIZE_BYTES) return frames
      const end = SIZE_BYTES + this.#checkedSize(this.#held, 0)
      at = this.#hold(chunk, at, end)
      if (this.#heldBytes < end) return frames
      frames.push(this.#held.subarray(SIZE_BYTES, end))
      this.#held = EMPTY_BYTES
      this.#heldBytes = 0
    }
    while (chunk.length - at >= SIZE_BYTES) {
      const end = at + SIZE_BYTES + this.#checkedSize(chunk, at)
      if (end > chunk.length) break
      frames.push(chunk.subarray(at + SIZE_BYTES, end))
      at = end
    }
    this.#hold(chunk, at, Number.POSITIVE_INFINITY)
    return frames
  }

  /** Takes from `chunk` until `upTo` bytes are held or it ends; returns where it stopped. */
  #hold(chunk: Buffer, from: number, upTo: number): number {
    const count = Math.min(chunk.length - from, Math.max(0, upTo - this.#heldBytes))
    const needed = this.#heldBytes + count
    if (needed > this.#held.length) {
      const bigger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * this.#held.length, upTo)))
      this.#held.copy(bigger, 0, 0, this.#heldBytes)
      this.#held = bigger
    }
    chunk.copy(this.#held, this.#heldBytes, from, from + count)
    this.#heldBytes = needed
    return from + count
  }

  #checkedSize(bytes: Buffer, at: number): number {
    const size = bytes.readInt32BE(at)
    if (size < 0) throw new FrameSizeError(size)
    if (size > this.limitBytes) throw new FrameTooLarge(size, this.limitBytes)
    return size
  }
}
