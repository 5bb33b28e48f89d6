// Numbers from a seed, the same in every run (sfc32).

export class Random {
  #a
  #b
  #c
  #counter = 1

  /** `seed` and `stream`: whole numbers; streams of one seed have nothing to do with one another. */
  constructor(seed, stream = 0) {
    this.#a = seed | 0
    this.#b = Math.floor(seed / 2 ** 32) | 0
    this.#c = Math.imul(stream, 0x9e3779b1) | 0
    for (let round = 0; round < 12; round++) this.uint32()
  }

  uint32() {
    const sum = (this.#a + this.#b + this.#counter++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    this.#c |= 0
    return sum >>> 0
  }

  /** A whole number from 0 to `limit` − 1. */
  below(limit) {
    return Math.floor((this.uint32() / 2 ** 32) * limit)
  }

  pick(list) {
    return list[this.below(list.length)]
  }

  /** True once in `times`. */
  once(times) {
    return this.below(times) === 0
  }

  bytes(count) {
    const bytes = Buffer.allocUnsafe(count)
    for (let at = 0; at < count; at++) bytes[at] = this.uint32()
    return bytes
  }
}
