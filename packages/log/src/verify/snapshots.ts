/** Verifies producer snapshots: whether they can be read, and whether they say what the log says up to their offset. */
import type { ProducerEntry } from '../producer-entry.js'
import { readProducerSnapshot } from '../producer-snapshot.js'
import type { ProducerStates } from '../producer-state.js'
import type { Finding } from './finding.js'

export interface SnapshotFiles {
  /** By the offset in the name. */
  readonly bytes: ReadonlyMap<number, Buffer>
  readonly report: (offset: number, finding: Omit<Finding, 'file'>) => void
}

export type SnapshotTask =
  /** Where what is verified begins: nothing is known before it, so its entries are taken. */
  | { readonly producers: ProducerStates; readonly isTaken: true }
  | {
      readonly producers: ProducerStates
      readonly isTaken: false
      /** `is`: at the start of each segment, and at the log's end after a clean stop; `may be`: at the log's end otherwise. */
      readonly isNeeded: 'is' | 'may be'
      /** The one that a start reads. */
      readonly isLast?: boolean
      /** A start scans the segment before it, and writes the snapshot at its end. */
      readonly isRebuilt: boolean
      /** Records were cleaned away, with what they told of their producers. */
      readonly hasGaps: boolean
      /** What lies below this offset was not looked at. */
      readonly knownFrom: number
    }

const REBUILDS_SNAPSHOT = 'builds it again from the log'

export function verifySnapshot({ bytes, report }: SnapshotFiles, offset: number, task: SnapshotTask): void {
  const { producers } = task
  const file = bytes.get(offset)
  const isLast = !task.isTaken && task.isLast === true
  if (file === undefined) {
    // Without producers there is nothing that could be lost with it.
    const level = producers.size > 0 && !task.isTaken && task.isNeeded === 'is' ? 'problem' : 'note'
    const atStart =
      isLast || (!task.isTaken && task.isRebuilt) ? REBUILDS_SNAPSHOT : 'nothing; the state is built without it if it is needed'
    report(offset, { level, offset, problem: 'there is no producer snapshot', atStart })
    return
  }
  const read = readProducerSnapshot(file)
  if ('problem' in read) {
    report(offset, {
      level: 'problem',
      problem: read.problem,
      atStart: 'drops it and builds the state from an older one, or from the log',
    })
    return
  }
  if (task.isTaken) {
    producers.load(read, offset, 0, Number.POSITIVE_INFINITY)
    return
  }
  const problem = disagreement(read, offset, task)
  if (problem === null) return
  const atStart = task.isRebuilt
    ? REBUILDS_SNAPSHOT
    : isLast
      ? 'takes it for true: duplicates may be appended, or records refused'
      : 'nothing: it is not read'
  report(offset, { level: 'problem', offset, problem, atStart })
}

/** Producers that are missing in the snapshot may have expired before it was written, unless they have a transaction open. */
function disagreement(
  entries: readonly ProducerEntry[],
  offset: number,
  {
    producers,
    hasGaps,
    knownFrom,
  }: { readonly producers: ProducerStates; readonly hasGaps: boolean; readonly knownFrom: number },
): string | null {
  const known = new Set<number>()
  for (const entry of entries) {
    const { producerId } = entry
    known.add(producerId)
    const lastOffset = entry.lastBatch?.lastOffset ?? -1
    if (lastOffset >= offset) return `producer ${producerId} has offset ${lastOffset}, beyond the snapshot's own ${offset}`
    const inLog = producers.entry(producerId)
    if (inLog === undefined || hasGaps) continue
    const problem = entryProblem(entry, inLog, knownFrom)
    if (problem !== null) return `producer ${producerId} has ${problem}`
  }
  if (hasGaps) return null
  for (const { producerId, transactionFirstOffset } of producers.entries)
    if (transactionFirstOffset >= 0 && !known.has(producerId))
      return `producer ${producerId} has a transaction open from ${transactionFirstOffset} on and is not in it`
  return null
}

function entryProblem(entry: ProducerEntry, inLog: ProducerEntry, knownFrom: number): string | null {
  const lastOffset = entry.lastBatch?.lastOffset ?? -1
  const opened = entry.transactionFirstOffset
  const pairs: (readonly [what: string, told: number, is: number])[] = [['epoch', entry.producerEpoch, inLog.producerEpoch]]
  if (lastOffset >= knownFrom || inLog.lastBatch !== null) {
    pairs.push(['last sequence', entry.lastSequence, inLog.lastSequence])
    pairs.push(['last offset', lastOffset, inLog.lastBatch?.lastOffset ?? -1])
  }
  if (opened < 0 || opened >= knownFrom) pairs.push(['open transaction at', opened, inLog.transactionFirstOffset])
  const wrong = pairs.find(([, told, is]) => told !== is)
  return wrong === undefined ? null : `${wrong[0]} ${wrong[1]}, the log says ${wrong[2]}`
}
