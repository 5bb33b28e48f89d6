/**
 * Which segments of a log may go. Pure: by time (of the records, or of the file if they have none), by size, and by the log start
 * offset; always from the oldest on, never above the high watermark.
 */

export interface RetentionSegment {
  readonly baseOffset: number
  readonly sizeInBytes: number
  readonly largestTimestamp: number
}

export interface RetentionState {
  readonly segments: readonly RetentionSegment[]
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly highWatermark: number
  readonly now: number
  readonly config: {
    readonly 'cleanup.policy': readonly string[]
    /** Negative: without limit. */
    readonly 'retention.ms': number
    readonly 'retention.bytes': number
  }
}

export interface Deletable {
  /** How many of the oldest segments may go. The active one, when it is among them, must be rolled first. */
  readonly count: number
  readonly reason: 'log start offset' | 'retention.bytes' | 'retention.ms' | null
}

const NOTHING: Deletable = { count: 0, reason: null }

/** The first rule that finds something; asked again until none does. A compacted topic loses only what lies before its start. */
export function deletableSegments(state: RetentionState): Deletable {
  const byStart = leading(state, (at) => (state.segments[at + 1]?.baseOffset ?? Number.POSITIVE_INFINITY) <= state.logStartOffset)
  if (byStart > 0) return { count: byStart, reason: 'log start offset' }
  if (!state.config['cleanup.policy'].includes('delete')) return NOTHING
  const bySize = leading(state, sizeRule(state))
  if (bySize > 0) return { count: bySize, reason: 'retention.bytes' }
  const byTime = leading(state, timeRule(state))
  return byTime > 0 ? { count: byTime, reason: 'retention.ms' } : NOTHING
}

type Rule = (at: number) => boolean

function sizeRule({ segments, config }: RetentionState): Rule {
  const limit = config['retention.bytes']
  if (limit < 0) return () => false
  let surplus = segments.reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0) - limit
  return (at) => {
    surplus -= segments[at]!.sizeInBytes
    return surplus >= 0
  }
}

function timeRule({ segments, config, now }: RetentionState): Rule {
  const limit = config['retention.ms']
  return (at) => limit >= 0 && now - segments[at]!.largestTimestamp > limit
}

/** How many segments from the oldest on the rule takes: all of it below the high watermark, and not an empty active one. */
function leading({ segments, highWatermark, logEndOffset }: RetentionState, rule: Rule): number {
  let count = 0
  for (const at of segments.keys()) {
    const isLast = at === segments.length - 1
    const end = isLast ? logEndOffset : segments[at + 1]!.baseOffset
    if (isLast && segments[at]!.sizeInBytes === 0) break
    if (highWatermark < end || !rule(at)) break
    count++
  }
  return count
}
