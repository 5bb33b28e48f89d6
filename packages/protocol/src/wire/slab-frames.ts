/**
 * Frames of a stream that is read straight into slabs: whoever reads asks for room, fills it, and gets whole frames.
 *
 *   slab  │ frames handed out │ unfinished frame │ room ──▶ │
 *                              begin              end
 *
 * Frames that carry much are lent: views, each of which holds the slab until its taker releases it. All others are copies of their own,
 * so that whoever takes them may keep what is in them. Only an unfinished frame that the slab's end cuts moves, into the next slab. The
 * memory for an unfinished frame is at most twice what has arrived of it, or what the largest frame before it on this connection
 * needed: an announced size alone allocates nothing.
 */

import { FrameSizeError, FrameTooLarge } from './frame.js'
import type { Slab, SlabPool } from './slab.js'

const SIZE_BYTES = 4
/** Thousands of idle connections hold this much each. */
const SMALLEST_SLAB = 4 * 1024
const LARGEST_SLAB = 256 * 1024
/** Less room than this is not worth a read. */
const LEAST_ROOM = 1024

export interface SlabFramesOptions {
  /** The largest frame. */
  readonly limitBytes: number
  readonly pool: SlabPool
  /** Whether this frame is lent, and released by its taker; else it is copied. */
  readonly isLent: (frame: Buffer) => boolean
}

export class SlabFrames {
  readonly #options: SlabFramesOptions
  #slab: Slab
  #begin = 0
  #end = 0
  #slabBytes = SMALLEST_SLAB
  #largestFrame = 0
  #lastFrame = 0

  constructor(options: SlabFramesOptions) {
    this.#options = options
    this.#slab = options.pool.take(SMALLEST_SLAB)
  }

  /** Bytes held for a frame that is not complete. */
  get pendingBytes(): number {
    return this.#end - this.#begin
  }

  /** Where the next bytes are to be read to. Valid until the next call of `received`. */
  room(): Buffer {
    return this.#slab.bytes.subarray(this.#end)
  }

  /** `count` bytes were read into the room: answers the frames that are complete now, without their size. Throws FrameSizeError or FrameTooLarge. */
  received(count: number): Buffer[] {
    const { bytes } = this.#slab
    // A read that fills its room will probably be followed by more: larger slabs then save reads and copies.
    if (this.#end + count === bytes.length) this.#slabBytes = Math.min(LARGEST_SLAB, this.#slabBytes * 4)
    this.#end += count
    const frames: Buffer[] = []
    let wanted = SIZE_BYTES
    while (this.pendingBytes >= SIZE_BYTES) {
      wanted = SIZE_BYTES + this.#checkedSize()
      if (this.pendingBytes < wanted) break
      frames.push(this.#handOut(bytes.subarray(this.#begin + SIZE_BYTES, this.#begin + wanted)))
      this.#begin += wanted
      this.#largestFrame = Math.max(this.#largestFrame, wanted)
      this.#lastFrame = wanted
      wanted = SIZE_BYTES
    }
    this.#makeRoom(wanted)
    return frames
  }

  /** Nothing more is read. */
  close(): void {
    this.#slab.release()
  }

  #handOut(frame: Buffer): Buffer {
    if (!this.#options.isLent(frame)) return Buffer.from(frame)
    this.#slab.hold()
    return frame
  }

  /** Goes on in this slab if the frame fits it; else in another one, to which what has arrived is copied. */
  #makeRoom(wanted: number): void {
    const { bytes } = this.#slab
    const pending = this.pendingBytes
    if (pending === 0 && !this.#slab.isShared && bytes.length === this.#slabBytes) {
      this.#begin = 0
      this.#end = 0
      return
    }
    const left = bytes.length - this.#begin
    if (left >= wanted && bytes.length - this.#end >= Math.min(LEAST_ROOM, wanted - pending)) return
    this.#moveTo(this.#options.pool.take(this.#nextSlabBytes(wanted)))
  }

  #nextSlabBytes(wanted: number): number {
    const pending = this.pendingBytes
    // The frame after a large one is probably large too, and gets a slab of its own once its size is here.
    if (pending < SIZE_BYTES && this.#lastFrame > LARGEST_SLAB) return SMALLEST_SLAB
    const earned = Math.max(2 * pending, this.#largestFrame)
    return Math.max(this.#slabBytes, Math.min(wanted, earned), pending + LEAST_ROOM)
  }

  #moveTo(next: Slab): void {
    const pending = this.pendingBytes
    this.#slab.bytes.copy(next.bytes, 0, this.#begin, this.#end)
    this.#slab.release()
    this.#slab = next
    this.#begin = 0
    this.#end = pending
  }

  #checkedSize(): number {
    const size = this.#slab.bytes.readInt32BE(this.#begin)
    if (size < 0) throw new FrameSizeError(size)
    if (size > this.#options.limitBytes) throw new FrameTooLarge(size, this.#options.limitBytes)
    return size
  }
}
