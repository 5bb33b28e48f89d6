/**
 * Committed offsets as they stand in `__consumer_offsets`. Key: int16 1 (0 in old logs), group, topic, partition. Value: int16 3,
 * offset, leader epoch, metadata, commit time; with an expiry of its own (retention time of OffsetCommit v2-4) int16 1, which has
 * room for that time and none for the epoch. A null value deletes.
 */
import { decodeVersioned, encodeVersioned, OffsetCommitKey, OffsetCommitValue } from '@mq/protocol'
import type { KeyAndValue, Unreadable } from '../runtime/shard.js'

export interface CommittedOffset {
  readonly offset: number
  /** -1: the client did not say. */
  readonly leaderEpoch: number
  readonly metadata: string
  /** Wall clock, milliseconds. */
  readonly commitTimestamp: number
  /** Null: goes with the group (KIP-211). */
  readonly expireTimestamp: number | null
}

export type OffsetRecord =
  | {
      readonly kind: 'offsetCommitted'
      readonly groupId: string
      readonly topic: string
      readonly partition: number
      readonly value: CommittedOffset
    }
  | { readonly kind: 'offsetDeleted'; readonly groupId: string; readonly topic: string; readonly partition: number }

const KEY_VERSION = 1
/** Highest version without tagged fields: what Kafka 3.9 writes. */
const VALUE_VERSION = 3
const VALUE_VERSION_WITH_EXPIRY = 1

export function encodeOffset(record: OffsetRecord): KeyAndValue {
  const { groupId: group, topic, partition } = record
  const key = encodeVersioned(OffsetCommitKey, KEY_VERSION, { group, topic, partition })
  if (record.kind === 'offsetDeleted') return { key, value: null }
  const { offset, leaderEpoch, metadata, commitTimestamp, expireTimestamp } = record.value
  const value =
    expireTimestamp === null
      ? encodeVersioned(OffsetCommitValue, VALUE_VERSION, { offset, leaderEpoch, metadata, commitTimestamp })
      : encodeVersioned(OffsetCommitValue, VALUE_VERSION_WITH_EXPIRY, { offset, metadata, commitTimestamp, expireTimestamp })
  return { key, value }
}

/** @param key with its version, 0 or 1 @throws DecodeError */
export function decodeOffset(key: Buffer, value: Buffer | null): OffsetRecord | Unreadable {
  const { group: groupId, topic, partition } = decodeVersioned(OffsetCommitKey, key).body
  if (value === null) return { kind: 'offsetDeleted', groupId, topic, partition }
  const { offset, leaderEpoch, metadata, commitTimestamp, expireTimestamp } = decodeVersioned(OffsetCommitValue, value).body
  return {
    kind: 'offsetCommitted',
    groupId,
    topic,
    partition,
    value: {
      offset,
      leaderEpoch,
      metadata,
      commitTimestamp,
      expireTimestamp: expireTimestamp === -1 ? null : expireTimestamp,
    },
  }
}
