/**
 * Memory that is used again instead of being left to the garbage collector, which at hundreds of megabytes a second has a third of
 * the CPU otherwise. A slab knows how many hold it; views into it are ordinary Buffers.
 *
 *   pool ──take──▶ held by whoever fills it ──hold──▶ … ──release──▶ held by nobody ──▶ pool
 *
 * Whoever keeps a view beyond the call that gave it takes a hold, and releases it once it is done. A hold too many is harmless: the slab
 * never comes back and the collector takes it. A hold too few is corruption, so a pool for tests poisons what comes back.
 * Views of any other memory may be held and released all the same: nothing happens.
 */
import { InvariantError } from './failures.js'

const POISON = 0xdb
/** Slabs of 1, 1¼, 1½ and 1¾ times a power of two: at most a fifth of one is more than was asked for. */
const SIZES_PER_DOUBLING = 4
const SMALLEST_BYTES = 4 * 1024

export class Slab extends ArrayBuffer {
  /** All of it. */
  readonly bytes: Buffer
  /** The same, for whoever reads numbers: making a view costs as much as decoding a small request. */
  readonly view: DataView
  readonly #pool: SlabPool
  #holders = 1

  constructor(pool: SlabPool, sizeInBytes: number) {
    super(sizeInBytes)
    this.#pool = pool
    this.bytes = Buffer.from(this)
    this.view = new DataView(this)
  }

  get isShared(): boolean {
    return this.#holders > 1
  }

  hold(): void {
    if (this.#holders === 0) throw new InvariantError('memory is held that was given back')
    this.#holders++
  }

  release(): void {
    if (this.#holders === 0) throw new InvariantError('memory is given back twice')
    if (--this.#holders === 0) this.#pool.put(this)
  }

  /** For the pool: somebody fills it again. */
  reuse(): void {
    this.#holders = 1
  }
}

export interface SlabPoolOptions {
  /** Memory that nobody holds is kept up to so many bytes; default 16 MiB. */
  readonly idleBytes?: number
  /** Overwrites what comes back, so that a test sees whoever still reads it. */
  readonly poison?: boolean
}

export class SlabPool {
  readonly #idleLimit: number
  readonly #poison: boolean
  readonly #idle = new Map<number, Slab[]>()
  #idleBytes = 0

  constructor({ idleBytes = 16 * 1024 * 1024, poison = false }: SlabPoolOptions = {}) {
    this.#idleLimit = idleBytes
    this.#poison = poison
  }

  /** Bytes of slabs that wait to be used again. */
  get idleBytes(): number {
    return this.#idleBytes
  }

  /** A slab of at least so many bytes, held once. Its bytes are whatever they were. */
  take(atLeastBytes: number): Slab {
    const sizeInBytes = slabBytesFor(atLeastBytes)
    const slab = this.#idle.get(sizeInBytes)?.pop()
    if (slab === undefined) return new Slab(this, sizeInBytes)
    this.#idleBytes -= sizeInBytes
    slab.reuse()
    return slab
  }

  /** For slabs that nobody holds any more. */
  put(slab: Slab): void {
    if (this.#poison) slab.bytes.fill(POISON)
    const sizeInBytes = slab.byteLength
    const ofSize = this.#idle.get(sizeInBytes) ?? []
    // The sizes that came back last are behind the others, which make room for them.
    this.#idle.delete(sizeInBytes)
    this.#idle.set(sizeInBytes, ofSize)
    ofSize.push(slab)
    this.#idleBytes += sizeInBytes
    while (this.#idleBytes > this.#idleLimit) this.#forgetOne()
  }

  #forgetOne(): void {
    for (const [sizeInBytes, slabs] of this.#idle) {
      if (slabs.pop() === undefined) {
        this.#idle.delete(sizeInBytes)
        continue
      }
      this.#idleBytes -= sizeInBytes
      return
    }
  }
}

function slabBytesFor(bytes: number): number {
  if (bytes <= SMALLEST_BYTES) return SMALLEST_BYTES
  const step = 2 ** Math.floor(Math.log2(bytes)) / SIZES_PER_DOUBLING
  return Math.ceil(bytes / step) * step
}

/** The memory of these bytes must stay as it is until `release`. */
export function hold(bytes: Buffer): void {
  const { buffer } = bytes
  if (buffer instanceof Slab) buffer.hold()
}

export function release(bytes: Buffer): void {
  const { buffer } = bytes
  if (buffer instanceof Slab) buffer.release()
}

export function releaseAll(slices: readonly Buffer[]): void {
  for (const slice of slices) release(slice)
}
