/**
 * Pure step of a partition's leader: log end offsets and the high watermark in, what the runner has to do out.
 * It knows no log, no socket and no clock; `partition.ts` carries its effects out.
 */
import { InvariantError } from '@mq/protocol'
import { highWatermarkOf } from './high-watermark.js'

/** What the controller decided when it made this broker the leader. */
export interface LeaderTerms {
  readonly leaderEpoch: number
  /** Broker ids, the leader among them. */
  readonly isr: readonly number[]
  readonly replicas: readonly number[]
}

/** Invariants: logStartOffset <= highWatermark <= logEndOffset; none of the three and no epoch ever goes back. */
export interface LeaderState {
  readonly brokerId: number
  readonly leaderEpoch: number
  /** The log end offset when this broker began to lead; of an epoch that went on after a clean stop, records may be older. */
  readonly epochStartOffset: number
  readonly isr: readonly number[]
  readonly replicas: readonly number[]
  /** Everything before it is in that replica's log. The leader's own entry moves with its appends. */
  readonly logEndOffsets: Map<number, number>
  highWatermark: number
}

export type LeaderEvent =
  /** Records up to here (exclusive) are written to our log. */
  { readonly kind: 'appended'; readonly logEndOffset: number }

export type LeaderEffect =
  /** Note the epoch and where it starts in the leader-epoch cache, written to or not (KAFKA-7415). */
  | { readonly kind: 'noteEpoch'; readonly leaderEpoch: number; readonly startOffset: number }
  /** Committed records: consumers may see them, waiting producers are answered. */
  | { readonly kind: 'moveHighWatermark'; readonly to: number }

/** The first moment as leader. A single replica commits all it has at once; with followers the high watermark waits for them. */
export function begin(
  brokerId: number,
  terms: LeaderTerms,
  log: { readonly logEndOffset: number; readonly highWatermark: number; readonly latestLeaderEpoch: number },
): { state: LeaderState; effects: LeaderEffect[] } {
  if (terms.leaderEpoch < log.latestLeaderEpoch) {
    throw new InvariantError(`leader epoch ${terms.leaderEpoch} is below ${log.latestLeaderEpoch}, which the log has seen`)
  }
  // After a clean stop the same epoch goes on, and it began where the cache says.
  const note: LeaderEffect[] =
    terms.leaderEpoch > log.latestLeaderEpoch
      ? [{ kind: 'noteEpoch', leaderEpoch: terms.leaderEpoch, startOffset: log.logEndOffset }]
      : []
  const state: LeaderState = {
    brokerId,
    leaderEpoch: terms.leaderEpoch,
    epochStartOffset: log.logEndOffset,
    isr: terms.isr,
    replicas: terms.replicas,
    logEndOffsets: new Map([[brokerId, log.logEndOffset]]),
    highWatermark: log.highWatermark,
  }
  return { state, effects: [...note, ...moveHighWatermark(state)] }
}

const NOTHING: readonly LeaderEffect[] = []

export function step(leader: LeaderState, event: LeaderEvent): readonly LeaderEffect[] {
  switch (event.kind) {
    case 'appended':
      return onAppended(leader, event.logEndOffset)
  }
}

function onAppended(leader: LeaderState, logEndOffset: number): readonly LeaderEffect[] {
  const before = leader.logEndOffsets.get(leader.brokerId) ?? 0
  if (logEndOffset <= before) return NOTHING // a duplicate of a batch that was appended earlier
  leader.logEndOffsets.set(leader.brokerId, logEndOffset)
  return moveHighWatermark(leader)
}

function moveHighWatermark(leader: LeaderState): readonly LeaderEffect[] {
  const to = highWatermarkOf(leader.highWatermark, leader.isr, leader.logEndOffsets)
  if (to === leader.highWatermark) return NOTHING
  leader.highWatermark = to
  return [{ kind: 'moveHighWatermark', to }]
}
