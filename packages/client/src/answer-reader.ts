/**
 * The bytes of a socket cut into answers. Large answers are read from the kernel straight into the buffer that becomes the answer, which
 * nobody else ever writes: what programs get to see are views of it.
 *
 *   size int32 │ answer …      room(): where the socket puts the next bytes;  filled(): how many came, and which answers are whole now
 */

import { FrameSizeError, FrameTooLarge } from '@mq/protocol'

const SIZE_BYTES = 4
/** Bytes for the beginnings of answers, and for small ones, which are copied out. */
const SCRATCH_BYTES = 64 * 1024
/** From so many missing bytes on an answer is read into its own buffer. */
const DIRECT_BYTES = 16 * 1024
/** An answer of up to this size gets its memory at once: a fetch asks for no more. Beyond it memory grows as bytes arrive. */
const AT_ONCE_BYTES = 16 * 1024 * 1024

export class AnswerReader {
  readonly #limitBytes: number
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  readonly #size = Buffer.alloc(SIZE_BYTES)
  #sizeBytes = 0
  /** The answer that is being received; undefined between answers. */
  #answer: Buffer | undefined
  #answerSize = 0
  #at = 0
  #isDirect = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Where the next bytes are to be put; `filled` has to follow before it is asked for again. */
  room(): Buffer {
    const answer = this.#answer
    this.#isDirect = answer !== undefined && this.#answerSize - this.#at >= DIRECT_BYTES && this.#at < answer.length
    return this.#isDirect ? answer!.subarray(this.#at) : this.#scratch
  }

  /** `count` bytes were put at the beginning of `room()`. Answers what is whole now, without its size. */
  filled(count: number): Buffer[] {
    if (!this.#isDirect) return this.push(this.#scratch.subarray(0, count))
    this.#isDirect = false
    this.#at += count
    const whole: Buffer[] = []
    this.#takeWhole(whole)
    return whole
  }

  /**
   * The same for sockets that hand out chunks of their own; nothing of `chunk` is kept.
   * @throws FrameSizeError, FrameTooLarge: the stream cannot be followed any further
   */
  push(chunk: Buffer): Buffer[] {
    const whole: Buffer[] = []
    let at = 0
    while (at < chunk.length) {
      if (this.#answer === undefined) {
        const count = Math.min(SIZE_BYTES - this.#sizeBytes, chunk.length - at)
        chunk.copy(this.#size, this.#sizeBytes, at, at + count)
        this.#sizeBytes += count
        at += count
        if (this.#sizeBytes === SIZE_BYTES) this.#begin(whole)
        continue
      }
      this.#makeRoom()
      const count = Math.min(this.#answer.length - this.#at, chunk.length - at)
      chunk.copy(this.#answer, this.#at, at, at + count)
      this.#at += count
      at += count
      this.#takeWhole(whole)
    }
    return whole
  }

  #begin(whole: Buffer[]): void {
    const size = this.#size.readInt32BE(0)
    if (size < 0) throw new FrameSizeError(size)
    if (size > this.#limitBytes) throw new FrameTooLarge(size, this.#limitBytes)
    this.#sizeBytes = 0
    this.#answerSize = size
    this.#at = 0
    this.#answer = Buffer.allocUnsafeSlow(Math.min(size, AT_ONCE_BYTES))
    this.#takeWhole(whole)
  }

  #makeRoom(): void {
    const answer = this.#answer!
    if (this.#at < answer.length) return
    this.#answer = Buffer.allocUnsafeSlow(Math.min(this.#answerSize, 2 * answer.length))
    answer.copy(this.#answer)
  }

  #takeWhole(whole: Buffer[]): void {
    if (this.#at < this.#answerSize) return
    whole.push(this.#answer!)
    this.#answer = undefined
  }
}
