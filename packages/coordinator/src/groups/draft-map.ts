/**
 * Maps and sets that a decision may change without copying them. A fork reads through to the entries that it shares and keeps its own
 * changes beside them; the shared entries take these over only when the fork is forked in turn. So a decision costs what it changes, not
 * what there is, and one that does not hold is dropped by forgetting its fork.
 *
 * Of the forks of one map at most one lives on: whoever forks a map takes the changes in it for true.
 */

/** In the order of a Map: a changed entry keeps its place, a new one stands at the end. */
export class DraftMap<K, V extends NonNullable<unknown>> {
  /** Shared with the map that this one was forked from: not to be touched before `fork`. */
  #shared: Map<K, V>
  readonly #changed = new Map<K, V>()
  readonly #added = new Map<K, V>()
  readonly #removed = new Set<K>()

  constructor(shared: Map<K, V> = new Map()) {
    this.#shared = shared
  }

  /** What this map says, to be changed by a decision. */
  fork(): DraftMap<K, V> {
    for (const key of this.#removed) this.#shared.delete(key)
    for (const [key, value] of this.#changed) this.#shared.set(key, value)
    for (const [key, value] of this.#added) this.#shared.set(key, value)
    this.#forgetChanges()
    return new DraftMap(this.#shared)
  }

  get size(): number {
    return this.#shared.size - this.#removed.size + this.#added.size
  }

  get(key: K): V | undefined {
    return this.#added.get(key) ?? this.#changed.get(key) ?? (this.#removed.has(key) ? undefined : this.#shared.get(key))
  }

  has(key: K): boolean {
    return this.#added.has(key) || this.#isShared(key)
  }

  set(key: K, value: V): void {
    if (this.#isShared(key)) this.#changed.set(key, value)
    else this.#added.set(key, value)
  }

  /** False if it was not there. */
  delete(key: K): boolean {
    if (this.#added.delete(key)) return true
    if (!this.#isShared(key)) return false
    this.#changed.delete(key)
    this.#removed.add(key)
    return true
  }

  clear(): void {
    this.#shared = new Map()
    this.#forgetChanges()
  }

  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const [key, value] of this.#shared) {
      if (!this.#removed.has(key)) yield [key, this.#changed.get(key) ?? value]
    }
    yield* this.#added
  }

  #isShared(key: K): boolean {
    return this.#shared.has(key) && !this.#removed.has(key)
  }

  #forgetChanges(): void {
    this.#changed.clear()
    this.#added.clear()
    this.#removed.clear()
  }
}

/** A DraftSet for those who only read it. */
export interface ReadonlyDraftSet<T> extends Iterable<T> {
  readonly size: number
  has(item: T): boolean
}

export class DraftSet<T> implements ReadonlyDraftSet<T> {
  readonly #items: DraftMap<T, true>

  constructor(items: DraftMap<T, true> = new DraftMap()) {
    this.#items = items
  }

  fork(): DraftSet<T> {
    return new DraftSet(this.#items.fork())
  }

  get size(): number {
    return this.#items.size
  }

  has(item: T): boolean {
    return this.#items.has(item)
  }

  add(item: T): void {
    this.#items.set(item, true)
  }

  /** False if it was not there. */
  delete(item: T): boolean {
    return this.#items.delete(item)
  }

  clear(): void {
    this.#items.clear()
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const [item] of this.#items) yield item
  }
}
