/** Which partition a key, a group or a transactional id belongs to: the hashes that all clients and brokers must share. */

const MURMUR2_SEED = 0x9747b28c | 0
const MURMUR2_MULTIPLIER = 0x5bd1e995
const MURMUR2_SHIFT = 24

/** The 32-bit murmur2 hash with Kafka's seed, as a signed int32. */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes
  const whole = length & ~3
  let hash = MURMUR2_SEED ^ length
  for (let at = 0; at < whole; at += 4) {
    let word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    word = Math.imul(word, MURMUR2_MULTIPLIER)
    word ^= word >>> MURMUR2_SHIFT
    hash = Math.imul(hash, MURMUR2_MULTIPLIER) ^ Math.imul(word, MURMUR2_MULTIPLIER)
  }
  const left = length - whole
  if (left === 3) hash ^= bytes[whole + 2]! << 16
  if (left >= 2) hash ^= bytes[whole + 1]! << 8
  if (left >= 1) hash = Math.imul(hash ^ bytes[whole]!, MURMUR2_MULTIPLIER)
  hash ^= hash >>> 13
  hash = Math.imul(hash, MURMUR2_MULTIPLIER)
  return hash ^ (hash >>> 15)
}

/** The default partitioner's choice for a record with a key. */
export function partitionForKey(key: Uint8Array, partitionCount: number): number {
  return (murmur2(key) & 0x7fffffff) % partitionCount
}

/** Java's String.hashCode: over UTF-16 units, as a signed int32. */
export function javaStringHash(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}

/** Partition of `__consumer_offsets` (by group) or `__transaction_state` (by transactional id). */
export function partitionForGroup(id: string, partitionCount: number): number {
  const hash = javaStringHash(id)
  // -2^31 has no positive counterpart in an int32: Kafka takes 0.
  return (hash === -0x80000000 ? 0 : Math.abs(hash)) % partitionCount
}
