/**
 * Which neighbouring segments become one when they are cleaned, so that repeated cleaning does not leave ever smaller ones. Pure.
 */

export interface SegmentSizes {
  readonly baseOffset: number
  readonly sizeInBytes: number
  readonly offsetIndexBytes: number
  readonly timeIndexBytes: number
}

export interface GroupLimits {
  /** `segment.bytes` */
  readonly segmentBytes: number
  /** `segment.index.bytes`, for each of the two indexes */
  readonly indexBytes: number
  /** Where the last of the segments ends at most (exclusive). */
  readonly endOffset: number
}

/** An index entry has four bytes for how far an offset lies from the base (KAFKA-6264). */
const WIDEST_SEGMENT = 0x7fff_ffff

/** Groups in order. Sizes before cleaning count, so that no result can be too large. */
export function segmentGroups<S extends SegmentSizes>(segments: readonly S[], limits: GroupLimits): S[][] {
  const groups: S[][] = []
  let sum = { data: 0, offsets: 0, times: 0 }
  for (const [at, segment] of segments.entries()) {
    const group = groups.at(-1)
    const lastOffset = (segments[at + 1]?.baseOffset ?? limits.endOffset) - 1
    const fits =
      group !== undefined &&
      sum.data + segment.sizeInBytes <= limits.segmentBytes &&
      sum.offsets + segment.offsetIndexBytes <= limits.indexBytes &&
      sum.times + segment.timeIndexBytes <= limits.indexBytes &&
      // An empty one has no offsets of its own: without this, one would stay for every 2^31 records.
      (segment.sizeInBytes === 0 || lastOffset - group[0]!.baseOffset <= WIDEST_SEGMENT)
    if (!fits) sum = { data: 0, offsets: 0, times: 0 }
    if (fits) group.push(segment)
    else groups.push([segment])
    sum.data += segment.sizeInBytes
    sum.offsets += segment.offsetIndexBytes
    sum.times += segment.timeIndexBytes
  }
  return groups
}
