/** Counts what a run, or a set of runs, came to: a fault that was never reached proves nothing. */

export class Reached {
  readonly #counts = new Map<string, number>()

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  add(other: Reached): void {
    for (const [what, count] of other.#counts) this.#counts.set(what, this.of(what) + count)
  }

  /** By name. */
  entries(): [string, number][] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1))
  }
}
