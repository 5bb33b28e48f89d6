// A byte stream cut into frames: four bytes of size, then as many bytes. A frame's memory grows as its bytes arrive, never by the
// size that it announces.

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
  /** What has arrived of the unfinished frame, its size included. */
  #pieces: Buffer[] = []
  #pendingBytes = 0

  constructor(readonly limitBytes: number) {}

  /** Bytes held for a frame that is not complete. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /**
   * Takes the next bytes of the stream and returns the frames that are complete now, without their size. A frame that lies whole
   * in one chunk is a view of it. Throws FrameSizeError or FrameTooLarge; the reader is of no use afterwards.
   */
  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = []
    let rest = chunk
    if (this.#pendingBytes > 0) {
      const size = this.#pendingSize(rest)
      if (size === undefined || this.#pendingBytes + rest.length < SIZE_BYTES + size) {
        this.#keep(rest)
        return frames
      }
      const missing = SIZE_BYTES + size - this.#pendingBytes
      this.#pieces.push(rest.subarray(0, missing))
      frames.push(Buffer.concat(this.#pieces).subarray(SIZE_BYTES))
      this.#pieces = []
      this.#pendingBytes = 0
      rest = rest.subarray(missing)
    }
    while (rest.length >= SIZE_BYTES) {
      const size = this.#checked(rest.readInt32BE(0))
      if (rest.length < SIZE_BYTES + size) break
      frames.push(rest.subarray(SIZE_BYTES, SIZE_BYTES + size))
      rest = rest.subarray(SIZE_BYTES + size)
    }
    if (rest.length > 0) this.#keep(rest)
    return frames
  }

  #keep(bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.#pendingBytes += bytes.length
    // Many tiny chunks must not cost an object each.
    if (this.#pieces.length >= 64) this.#pieces = [Buffer.concat(this.#pieces)]
  }

  /** Size of the frame begun, once its four bytes are there; `next` follows what is held. */
  #pendingSize(next: Buffer): number | undefined {
    if (this.#pendingBytes + next.length < SIZE_BYTES) return undefined
    const head = Buffer.concat([...this.#pieces, next.subarray(0, SIZE_BYTES)], SIZE_BYTES)
    return this.#checked(head.readInt32BE(0))
  }

  #checked(size: number): number {
    if (size < 0) throw new FrameSizeError(size)
    if (size > this.limitBytes) throw new FrameTooLarge(size, this.limitBytes)
    return size
  }
}
