/** Random numbers that depend on the seed alone, split into streams by name so that one room's draws do not move another's. */

export class Chance {
  #state: number

  constructor(readonly seed: number) {
    this.#state = seed >>> 0
  }

  /** A stream of its own, the same whenever the same name is asked of the same seed. */
  stream(name: string): Chance {
    let mixed = this.seed ^ 0x811c9dc5
    for (let at = 0; at < name.length; at++) mixed = Math.imul(mixed ^ name.charCodeAt(at), 0x01000193)
    return new Chance(mixed ^ (mixed >>> 13))
  }

  /** In [0, 1) (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count)
    for (let at = 0; at < count; at++) bytes[at] = Math.floor(this.next() * 256)
    return bytes
  }

  /** A whole number from `from` up to, not with, `to`. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from))
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from)
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  one<T>(all: readonly T[]): T {
    return all[this.whole(0, all.length)]!
  }
}
