/**
 * The offset index of a segment (`.index`): from an offset to the place in the data file where to start looking for it.
 *
 *   entry (8 bytes):  | relative offset int32 | position int32 |
 *
 * Valid if and only if: the size is a multiple of 8, offsets rise, positions rise, none lies before the segment's base offset.
 * An entry says: the batch (or the append) that begins at `position` ends with `offset`. Everything at or after an offset is at
 * or after the position of its floor entry, so a reader walks on from there. Rebuilt from the data file at any time.
 */
import { floorSlot, SparseIndex } from './sparse-index.js'

export const OFFSET_ENTRY_BYTES = 8
const POSITION_AT = 4

export interface OffsetPosition {
  readonly offset: number
  readonly position: number
}

export class OffsetIndex extends SparseIndex {
  constructor(baseOffset: number, maxBytes: number, bytes: Buffer | null = null) {
    super(baseOffset, maxBytes, OFFSET_ENTRY_BYTES, bytes)
  }

  get isFull(): boolean {
    return this.entryCount >= this.maxEntries
  }

  /** The base offset when it is empty. */
  get lastOffset(): number {
    return this.entryCount === 0 ? this.baseOffset : this.offsetAt(this.entryCount - 1)
  }

  offsetAt(slot: number): number {
    return this.baseOffset + this.view.getInt32(slot * OFFSET_ENTRY_BYTES)
  }

  positionAt(slot: number): number {
    return this.view.getInt32(slot * OFFSET_ENTRY_BYTES + POSITION_AT)
  }

  /** Offsets must rise; one that does not is left out (the entry before it is as good). */
  append(offset: number, position: number): void {
    if (this.entryCount > 0 && offset <= this.lastOffset) return
    const at = this.grow()
    this.view.setInt32(at, offset - this.baseOffset)
    this.view.setInt32(at + POSITION_AT, position)
  }

  /** Number of the last entry at or below `offset`, -1 if there is none. */
  floorSlot(offset: number): number {
    const relative = Math.min(offset - this.baseOffset, 0x7fffffff)
    return floorSlot(this.view, OFFSET_ENTRY_BYTES, 0, this.entryCount, relative, this.warmEntries)
  }

  /** Where to begin a search for `offset`: the floor entry, or the start of the segment. */
  lookup(offset: number): OffsetPosition {
    const slot = this.floorSlot(offset)
    return slot < 0 ? { offset: this.baseOffset, position: 0 } : { offset: this.offsetAt(slot), position: this.positionAt(slot) }
  }

  /** The last entry that begins at or before `position`; null if none does. */
  floorPosition(position: number): OffsetPosition | null {
    const target = Math.min(position, 0x7fffffff)
    const slot = floorSlot(this.view, OFFSET_ENTRY_BYTES, POSITION_AT, this.entryCount, target, this.warmEntries)
    return slot < 0 ? null : { offset: this.offsetAt(slot), position: this.positionAt(slot) }
  }

  /** Drops entries at and above `offset`. */
  truncateTo(offset: number): void {
    const slot = this.floorSlot(offset)
    this.cutTo(slot >= 0 && this.offsetAt(slot) === offset ? slot : slot + 1)
  }

  clear(): void {
    this.cutTo(0)
  }
}

/** What is wrong with the bytes of a `.index` file; null if nothing is. */
export function offsetIndexProblem(bytes: Buffer, dataBytes: number): string | null {
  if (bytes.length % OFFSET_ENTRY_BYTES !== 0) return `size ${bytes.length} is no multiple of ${OFFSET_ENTRY_BYTES}`
  let offset = -1
  let position = -1
  for (let at = 0; at < bytes.length; at += OFFSET_ENTRY_BYTES) {
    const nextOffset = bytes.readInt32BE(at)
    const nextPosition = bytes.readInt32BE(at + POSITION_AT)
    if (nextOffset <= offset && at > 0) return `entry ${at / OFFSET_ENTRY_BYTES}: offset does not rise`
    if (nextOffset < 0) return `entry ${at / OFFSET_ENTRY_BYTES}: offset before the base offset`
    if (nextPosition <= position || nextPosition >= dataBytes) return `entry ${at / OFFSET_ENTRY_BYTES}: position ${nextPosition}`
    offset = nextOffset
    position = nextPosition
  }
  return null
}
