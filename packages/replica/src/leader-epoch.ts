/**
 * Pure: which epoch a leader of a single replica takes when its broker starts.
 */

export interface EpochAtStart {
  /** What the metadata store says; -1 when it knows the partition not at all. */
  readonly storedEpoch: number
  /** The latest epoch in the leader-epoch checkpoint or a batch header; -1 when there is none. */
  readonly epochInLog: number
  /** Whether the log was closed in order, so that nothing can have been cut from its end. */
  readonly stoppedCleanly: boolean
}

/**
 * The old epoch after a clean stop. After any other a new one: recovery may have cut records that consumers have read, and
 * they find that out by the epoch (KIP-320). What the log already holds is never gone below: a Java broker may have led in between.
 */
export function leaderEpochAtStart({ storedEpoch, epochInLog, stoppedCleanly }: EpochAtStart): number {
  const known = Math.max(storedEpoch, epochInLog)
  if (known < 0) return 0
  if (!stoppedCleanly) return known + 1
  return known
}
