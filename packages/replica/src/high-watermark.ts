/**
 * Pure: where the high watermark stands. Everything below it is in the log of every in-sync replica, so no election among
 * them can lose it, and consumers may see it.
 */

/**
 * The lowest log end offset in the ISR, but never less than `current`: what consumers have seen stays (reliability R7).
 * A member whose log end offset is not known yet holds it where it is.
 */
export function highWatermarkOf(
  current: number,
  inSyncReplicas: readonly number[],
  logEndOffsets: ReadonlyMap<number, number>,
): number {
  let lowest = Number.POSITIVE_INFINITY
  for (const replica of inSyncReplicas) {
    const logEndOffset = logEndOffsets.get(replica)
    if (logEndOffset === undefined) return current
    if (logEndOffset < lowest) lowest = logEndOffset
  }
  return Number.isFinite(lowest) && lowest > current ? lowest : current
}
