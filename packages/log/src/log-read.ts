/** Reads what is no longer in memory: from the disk, segment by segment, with damaged indexes built again on the way. */
import { releaseAll } from '@mq/protocol'
import type { LogState } from './log-state.js'
import { type Refused, refused } from './outcomes.js'
import { DiskError } from './ports.js'
import { ensureIndexes, rebuildIndexes } from './recover.js'
import type { Segment } from './segment.js'
import { MisplacedRead, readSegment, type SegmentRead, type SegmentReadOptions } from './segment-read.js'

const NOTHING = (offset: number): SegmentRead => ({ slices: [], sizeInBytes: 0, nextOffset: offset })

export async function readCold(state: LogState, offset: number, options: SegmentReadOptions): Promise<SegmentRead | Refused> {
  let segment = state.segments.floor(offset)
  while (segment !== undefined) {
    let read: SegmentRead | null
    try {
      read = await readOne(state, segment, offset, options)
    } catch (error) {
      if (!wasReplaced(state, segment, offset)) return failure(state, segment, offset, error)
      read = null
    }
    // The transaction indexes are asked next: without the segment that was read they do not know what was aborted in it.
    if (!state.segments.all.includes(segment)) {
      releaseAll(read?.slices ?? [])
      if (!wasReplaced(state, segment, offset)) return isGone(offset)
      segment = state.segments.floor(offset)
      continue
    }
    if (read !== null) return read
    segment = state.segments.after(segment)
  }
  return NOTHING(offset)
}

async function readOne(
  state: LogState,
  segment: Segment,
  offset: number,
  options: SegmentReadOptions,
): Promise<SegmentRead | null> {
  const { context, name } = state
  const isActive = segment === state.segments.active
  const problem = await ensureIndexes(segment, context.offload)
  if (problem !== null) context.logger.warn({ partition: name, segment: segment.baseOffset }, `${problem}: indexes built again`)
  if (!isActive) context.indexMemory.touch(segment)
  try {
    return await readSegment(segment, offset, options, context.memory)
  } catch (error) {
    if (!(error instanceof MisplacedRead) || isActive) throw error
    context.logger.warn({ partition: name, segment: segment.baseOffset }, `${error.message}: indexes built again`)
    await rebuildIndexes(segment, context.offload)
    return readSegment(segment, offset, options, context.memory)
  }
}

/** A cleaning put another segment in its place. */
const wasReplaced = (state: LogState, segment: Segment, offset: number): boolean =>
  !state.isClosed && !state.segments.all.includes(segment) && offset >= state.logStartOffset && offset < state.logEndOffset

const isGone = (offset: number): Refused => refused('OFFSET_OUT_OF_RANGE', `offset ${offset} is no longer here`)

function failure(state: LogState, segment: Segment, offset: number, error: unknown): Refused {
  if (error instanceof MisplacedRead)
    return refused('CORRUPT_MESSAGE', `${state.name}, segment ${segment.baseOffset}: ${error.message}`)
  // Retention, truncation or a close took the segment away meanwhile.
  if (error instanceof DiskError && (state.isClosed || !state.segments.all.includes(segment))) return isGone(offset)
  return state.context.directory.failedLook(error)
}
