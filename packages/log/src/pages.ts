/**
 * Bytes that grow, in pages, for the disk in memory: what was never written reads as zeros and costs nothing, as in a sparse file.
 */

const PAGE = 64 * 1024

export class Pages {
  #pages = new Map<number, Buffer>()
  size = 0

  write(position: number, bytes: Buffer): void {
    for (let done = 0; done < bytes.length; ) {
      const at = (position + done) % PAGE
      const count = Math.min(PAGE - at, bytes.length - done)
      const page = this.#pageFor(Math.floor((position + done) / PAGE), at + count)
      bytes.copy(page, at, done, done + count)
      done += count
    }
    this.size = Math.max(this.size, position + bytes.length)
  }

  /** A page takes as much memory as its written part needs, doubled as it grows. */
  #pageFor(number: number, needed: number): Buffer {
    const page = this.#pages.get(number)
    if (page !== undefined && page.length >= needed) return page
    const grown = Buffer.alloc(Math.min(PAGE, Math.max(needed, (page?.length ?? 0) * 2)))
    page?.copy(grown)
    this.#pages.set(number, grown)
    return grown
  }

  /** Fills `into` as far as there are bytes; the result is how many. */
  read(into: Buffer, position: number): number {
    const total = Math.max(0, Math.min(into.length, this.size - position))
    for (let done = 0; done < total; ) {
      const at = (position + done) % PAGE
      const count = Math.min(PAGE - at, total - done)
      const page = this.#pages.get(Math.floor((position + done) / PAGE))
      // A page may end before the place: what was cut and then extended is zeros.
      const copied = page === undefined || at >= page.length ? 0 : page.copy(into, done, at, Math.min(at + count, page.length))
      if (copied < count) into.fill(0, done + copied, done + count)
      done += count
    }
    return total
  }

  truncate(size: number): void {
    if (size < this.size) {
      const last = Math.floor(size / PAGE)
      for (const number of [...this.#pages.keys()]) if (number > last) this.#pages.delete(number)
      this.#pages.get(last)?.fill(0, Math.min(size % PAGE, this.#pages.get(last)!.length))
    }
    this.size = size
  }

  copyOf(other: Pages): void {
    this.#pages = new Map([...other.#pages].map(([number, page]) => [number, Buffer.from(page)]))
    this.size = other.size
  }
}
