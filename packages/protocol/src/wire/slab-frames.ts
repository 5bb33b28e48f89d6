/**
 * Frames of a stream that is read straight into memory of ours: whoever reads asks for room, fills it, and gets views of whole frames.
 *
 *   slab  │ frames handed out │ unfinished frame │ room ──▶ │
 *                              begin              end
 *
 * Only a frame that the slab's end cuts is copied, into the next slab. A slab is never written twice: views stay as they are for as long
 * as somebody holds them. The memory for an unfinished frame is at most twice what has arrived of it, or what the largest frame
 * before it on this connection needed: an announced size alone allocates nothing.
 */

import { FrameSizeError, FrameTooLarge } from './frame.js'

const SIZE_BYTES = 4
/** Thousands of idle connections hold this much each. */
const SMALLEST_SLAB = 4 * 1024
const LARGEST_SLAB = 256 * 1024
/** Less room than this is not worth a read. */
const LEAST_ROOM = 1024

export class SlabFrames {
  #slab: Buffer = Buffer.allocUnsafeSlow(SMALLEST_SLAB)
  #begin = 0
  #end = 0
  #slabBytes = SMALLEST_SLAB
  #largestFrame = 0

  constructor(readonly limitBytes: number) {}

  /** Bytes held for a frame that is not complete. */
  get pendingBytes(): number {
    return this.#end - this.#begin
  }

  /** Where the next bytes are to be read to. Valid until the next call of `received`. */
  room(): Buffer {
    return this.#slab.subarray(this.#end)
  }

  /** `count` bytes were read into the room: answers the frames that are complete now, without their size. Throws FrameSizeError or FrameTooLarge. */
  received(count: number): Buffer[] {
    // A read that fills its room will probably be followed by more: larger slabs then save reads and copies.
    if (this.#end + count === this.#slab.length) this.#slabBytes = Math.min(LARGEST_SLAB, this.#slabBytes * 4)
    this.#end += count
    const frames: Buffer[] = []
    let wanted = SIZE_BYTES
    while (this.pendingBytes >= SIZE_BYTES) {
      wanted = SIZE_BYTES + this.#checkedSize()
      if (this.pendingBytes < wanted) break
      frames.push(this.#slab.subarray(this.#begin + SIZE_BYTES, this.#begin + wanted))
      this.#begin += wanted
      this.#largestFrame = Math.max(this.#largestFrame, wanted)
      wanted = SIZE_BYTES
    }
    this.#makeRoom(wanted)
    return frames
  }

  /** Goes on in this slab if the frame fits it; else in a new one, to which what has arrived is copied. */
  #makeRoom(wanted: number): void {
    const left = this.#slab.length - this.#begin
    if (left >= wanted && this.#slab.length - this.#end >= Math.min(LEAST_ROOM, wanted - this.pendingBytes)) return
    const pending = this.pendingBytes
    const earned = Math.max(2 * pending, this.#largestFrame)
    const size = Math.max(this.#slabBytes, Math.min(wanted, earned), pending + LEAST_ROOM)
    const next = Buffer.allocUnsafeSlow(size)
    this.#slab.copy(next, 0, this.#begin, this.#end)
    this.#slab = next
    this.#begin = 0
    this.#end = pending
  }

  #checkedSize(): number {
    const size = this.#slab.readInt32BE(this.#begin)
    if (size < 0) throw new FrameSizeError(size)
    if (size > this.limitBytes) throw new FrameTooLarge(size, this.limitBytes)
    return size
  }
}
