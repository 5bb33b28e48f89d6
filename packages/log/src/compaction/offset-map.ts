/**
 * From a key to the last offset that has it, in bounded memory: 24 bytes for each key, in one table with open addressing, as Kafka's
 * has it, so that it is full after as many keys.
 *
 *   slot:  | 16 bytes that stand for the key | offset, 8 bytes |
 *
 * A key of up to 14 bytes stands for itself, with its length in the last byte. Of a longer one the SHA-256 is taken, cut to 15 bytes
 * and marked: two keys that met there would lose the older one's last value, and nobody can make two that do. Where a search
 * begins is mixed with a seed, so that nobody can make keys that crowd in one place either.
 */
import { hash } from 'node:crypto'

export const OFFSET_MAP_ENTRY_BYTES = 24
const WORDS = 4
const LONGEST_PLAIN = 14
/** The last byte of a plain key is its length + 1, so that no slot in use is all zeros. */
const HASHED = 0xff

export interface OffsetMapOptions {
  /** `log.cleaner.dedupe.buffer.size`, for one cleaning. */
  readonly memoryBytes: number
  /** `log.cleaner.io.buffer.load.factor` */
  readonly loadFactor: number
  /** As many keys at most can come: the table need not be larger. */
  readonly mostKeys: number
  readonly seed: number
}

/** How many keys a map of so much memory takes. */
export function offsetMapCapacity(memoryBytes: number, loadFactor: number): number {
  const slots = Math.floor(memoryBytes / OFFSET_MAP_ENTRY_BYTES)
  return Math.min(slots, Math.floor(slots * loadFactor))
}

export class OffsetMap {
  /** So many keys are taken. */
  readonly capacity: number
  /** The last offset that was looked at: what lies above it is not known here. */
  latestOffset = -1
  readonly #slots: number
  readonly #seed: number
  readonly #hashes: Int32Array
  readonly #offsets: Float64Array
  #size = 0
  readonly #key = Buffer.alloc(WORDS * 4)
  readonly #words = new Int32Array(this.#key.buffer, this.#key.byteOffset, WORDS)

  constructor({ memoryBytes, loadFactor, mostKeys, seed }: OffsetMapOptions) {
    const slots = Math.floor(memoryBytes / OFFSET_MAP_ENTRY_BYTES)
    this.capacity = offsetMapCapacity(memoryBytes, loadFactor)
    // Half empty where memory allows: searches are short then. One slot is always empty, so that they end.
    this.#slots = Math.min(slots, mostKeys * 2) + 1
    this.#seed = seed | 0
    this.#hashes = new Int32Array(this.#slots * WORDS)
    this.#offsets = new Float64Array(this.#slots)
  }

  get size(): number {
    return this.#size
  }

  get memoryBytes(): number {
    return this.#hashes.byteLength + this.#offsets.byteLength
  }

  /** False, and nothing is noted, when as many keys are in it as it takes. */
  put(key: Buffer, offset: number): boolean {
    if (this.#size >= this.capacity) return false
    const slot = this.#find(key)
    if (this.#isEmpty(slot)) {
      this.#hashes.set(this.#words, slot * WORDS)
      this.#size++
    }
    this.#offsets[slot] = offset
    this.latestOffset = offset
    return true
  }

  /** -1 for a key that is not here. */
  get(key: Buffer): number {
    const slot = this.#find(key)
    return this.#isEmpty(slot) ? -1 : this.#offsets[slot]!
  }

  #isEmpty(slot: number): boolean {
    return this.#hashes[slot * WORDS + WORDS - 1] === 0
  }

  /** Where the key is, or would be. */
  #find(key: Buffer): number {
    this.#setKey(key)
    const words = this.#words
    const a = words[0]!
    const b = words[1]!
    const c = words[2]!
    const d = words[3]!
    const hashes = this.#hashes
    const slots = this.#slots
    let slot = mixed(a, b, c, d, this.#seed) % slots
    for (;;) {
      const at = slot * WORDS
      if (hashes[at + 3] === 0) return slot
      if (hashes[at + 3] === d && hashes[at + 2] === c && hashes[at + 1] === b && hashes[at] === a) return slot
      slot = slot + 1 === slots ? 0 : slot + 1
    }
  }

  #setKey(key: Buffer): void {
    const bytes = this.#key
    if (key.length <= LONGEST_PLAIN) {
      bytes.fill(0)
      key.copy(bytes)
      bytes[15] = key.length + 1
    } else {
      // As a text it costs half of what a Buffer does.
      bytes.write(hash('sha256', key, 'binary'), 0, 15, 'latin1')
      bytes[15] = HASHED
    }
  }
}

/** Four words and a seed to one number that is not negative (steps and finisher are murmur3's). */
function mixed(a: number, b: number, c: number, d: number, seed: number): number {
  let mix = step(step(step(step(seed, a), b), c), d)
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}

function step(mix: number, word: number): number {
  let key = Math.imul(word, 0xcc9e2d51)
  key = Math.imul((key << 15) | (key >>> 17), 0x1b873593)
  const next = mix ^ key
  return (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0
}
