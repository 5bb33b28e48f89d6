/**
 * An immutable map by string whose changed copies share all but the touched part, so that a picture of 10,000 topics can be
 * replaced for one topic at the cost of copying a few dozen entries.
 */

const BUCKET_TARGET = 32

export class PersistentMap<V> implements Iterable<[string, V]> {
  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>([new Map()], 0)
  }

  static from<V>(entries: Iterable<readonly [string, V]>): PersistentMap<V> {
    return PersistentMap.empty<V>().with(entries)
  }

  /** The count of buckets is a power of two, so that the low bits of a hash choose one. */
  private constructor(
    readonly buckets: readonly ReadonlyMap<string, V>[],
    readonly size: number,
  ) {}

  get(key: string): V | undefined {
    return this.buckets[bucketOf(key, this.buckets.length)]?.get(key)
  }

  has(key: string): boolean {
    return this.get(key) !== undefined || this.buckets[bucketOf(key, this.buckets.length)]?.has(key) === true
  }

  /** A copy with these set (a value) or removed (`undefined`). Costs the touched buckets and the list of buckets. */
  with(changes: Iterable<readonly [string, V | undefined]>): PersistentMap<V> {
    const buckets = [...this.buckets]
    const owned = new Map<number, Map<string, V>>()
    let size = this.size
    for (const [key, value] of changes) {
      const at = bucketOf(key, buckets.length)
      let bucket = owned.get(at)
      if (bucket === undefined) {
        bucket = new Map(buckets[at])
        owned.set(at, bucket)
        buckets[at] = bucket
      }
      if (value === undefined) size -= bucket.delete(key) ? 1 : 0
      else {
        size += bucket.has(key) ? 0 : 1
        bucket.set(key, value)
      }
    }
    const wanted = bucketCountFor(size, buckets.length)
    return new PersistentMap(wanted === buckets.length ? buckets : spread(buckets, wanted), size)
  }

  *[Symbol.iterator](): Iterator<[string, V]> {
    for (const bucket of this.buckets) yield* bucket
  }

  *keys(): Iterable<string> {
    for (const bucket of this.buckets) yield* bucket.keys()
  }

  *values(): Iterable<V> {
    for (const bucket of this.buckets) yield* bucket.values()
  }
}

function bucketCountFor(size: number, now: number): number {
  let count = now
  while (size > count * BUCKET_TARGET) count *= 2
  while (count > 1 && size * 4 < count * BUCKET_TARGET) count /= 2 // far below, so that a size at the edge does not spread again and again
  return count
}

function spread<V>(from: readonly ReadonlyMap<string, V>[], count: number): Map<string, V>[] {
  const buckets = Array.from({ length: count }, () => new Map<string, V>())
  for (const bucket of from) for (const [key, value] of bucket) buckets[bucketOf(key, count)]!.set(key, value)
  return buckets
}

/** FNV-1a over the UTF-16 units. */
function bucketOf(key: string, count: number): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & (count - 1)
}
