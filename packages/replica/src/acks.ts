/**
 * Pure: what `acks` and `min.insync.replicas` ask of the in-sync replicas, before an append and after it.
 */
import type { LeaderState } from './leader.js'

/** 0: no answer at all; 1: written by the leader; -1 (all): in the log of every in-sync replica. */
export type Acks = 0 | 1 | -1

export const isAcks = (acks: number): acks is Acks => acks === -1 || acks === 0 || acks === 1

/** Asking for more in-sync replicas than there are replicas would refuse every write, so the number of replicas is the most that counts. */
export const effectiveMinInSyncReplicas = (leader: LeaderState, minInSyncReplicas: number): number =>
  Math.min(minInSyncReplicas, leader.replicas.length)

/** Whether an append may begin: with acks=all it must not when too few replicas would hold it. */
export function admit(leader: LeaderState, acks: Acks, minInSyncReplicas: number): 'admitted' | 'NOT_ENOUGH_REPLICAS' {
  if (acks !== -1 || leader.isr.length >= effectiveMinInSyncReplicas(leader, minInSyncReplicas)) return 'admitted'
  return 'NOT_ENOUGH_REPLICAS'
}

/** Whether records before `requiredOffset` may be acknowledged to a producer that asked for acks=all. */
export function acknowledge(
  leader: LeaderState,
  requiredOffset: number,
  minInSyncReplicas: number,
): 'waiting' | 'acknowledged' | 'NOT_ENOUGH_REPLICAS_AFTER_APPEND' {
  if (leader.highWatermark < requiredOffset) return 'waiting'
  // The ISR may have shrunk between the append and this moment.
  return leader.isr.length >= effectiveMinInSyncReplicas(leader, minInSyncReplicas)
    ? 'acknowledged'
    : 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'
}
