/** Finds the offset that a timestamp, or one of the special ones, stands for in a partition. */
import type { ReadLimit } from '@mq/log'
import type { Partition, Refusal } from '@mq/replica'

const LATEST = -1
const EARLIEST = -2
const MAX_TIMESTAMP = -3
const EARLIEST_LOCAL = -4
const LATEST_TIERED = -5

/** The version that brought each special timestamp. */
const SINCE: ReadonlyMap<number, number> = new Map([
  [LATEST, 1],
  [EARLIEST, 1],
  [MAX_TIMESTAMP, 7],
  [EARLIEST_LOCAL, 8],
  [LATEST_TIERED, 9],
])

export const specialIsKnown = (timestamp: number, version: number): boolean =>
  timestamp >= 0 || (SINCE.get(timestamp) ?? Number.POSITIVE_INFINITY) <= version

export interface FoundOffset {
  readonly kind: 'found'
  /** -1 and -1: no record is that young. */
  readonly offset: number
  readonly timestamp: number | bigint
  readonly leaderEpoch: number
}
export type Found = FoundOffset | Refusal

const NOTHING: FoundOffset = { kind: 'found', offset: -1, timestamp: -1, leaderEpoch: -1 }

type Access = Extract<ReturnType<Partition['logFor']>, { kind: 'log' }>

export async function findOffset(
  partition: Partition,
  timestamp: number,
  currentLeaderEpoch: number,
  upTo: ReadLimit,
): Promise<Found> {
  const access = partition.logFor(currentLeaderEpoch)
  if (access.kind === 'refused') return access
  switch (timestamp) {
    case LATEST:
      return (
        notAvailable(access, upTo) ?? {
          kind: 'found',
          offset: endFor(access, upTo),
          timestamp: -1,
          leaderEpoch: access.leader.leaderEpoch,
        }
      )
    case EARLIEST:
    case EARLIEST_LOCAL: // all of the log is local
      return ask(access, 'earliest')
    case LATEST_TIERED: // nothing is tiered
      return NOTHING
    default: {
      const found = await ask(access, timestamp === MAX_TIMESTAMP ? 'maxTimestamp' : timestamp)
      if (found.kind === 'refused' || (found.offset >= 0 && found.offset < endFor(access, upTo))) return found
      return notAvailable(access, upTo) ?? NOTHING
    }
  }
}

async function ask(access: Access, query: number | 'earliest' | 'maxTimestamp'): Promise<Found> {
  const found = await access.log.offsetForTimestamp(query)
  if (found === null) return NOTHING
  return 'kind' in found ? found : { kind: 'found', ...found }
}

/**
 * What v0 answers: the starts of segments that were last written at or before the time, and the log end as if written now;
 * the latest first, no more than `max`. A consumer sees the high watermark in place of all that is above it.
 */
export function legacyOffsets(
  partition: Partition,
  timestamp: number,
  max: number,
  now: number,
  isConsumer: boolean,
): number[] | Refusal {
  const access = partition.logFor(-1)
  if (access.kind === 'refused') return access
  const { log } = access
  const segments = log.segmentViews()
  const places = segments.map(({ baseOffset, modifiedMs }) => ({
    offset: Math.max(baseOffset, log.logStartOffset),
    at: modifiedMs,
  }))
  if ((segments.at(-1)?.sizeInBytes ?? 0) > 0) places.push({ offset: log.logEndOffset, at: now })
  const last =
    timestamp === LATEST ? places.length - 1 : timestamp === EARLIEST ? 0 : places.findLastIndex(({ at }) => at <= timestamp)
  const offsets = places
    .slice(Math.max(0, last + 1 - Math.max(0, max)), last + 1)
    .map(({ offset }) => offset)
    .sort((a, b) => b - a)
  if (!isConsumer || !offsets.some((offset) => offset > log.highWatermark)) return offsets
  return [log.highWatermark, ...offsets.filter((offset) => offset <= log.highWatermark)]
}

function endFor({ log }: Access, upTo: ReadLimit): number {
  if (upTo === 'logEnd') return log.logEndOffset
  return upTo === 'lastStable' ? log.lastStableOffset : log.highWatermark
}

/** A new leader whose high watermark has not reached its own epoch does not know yet where the end is (KIP-207). */
function notAvailable({ log, leader }: Access, upTo: ReadLimit): Refusal | null {
  if (upTo === 'logEnd' || leader.epochStartOffset <= log.highWatermark) return null
  return {
    kind: 'refused',
    error: 'OFFSET_NOT_AVAILABLE',
    message: 'the high watermark lags behind the start of the leader epoch',
  }
}
