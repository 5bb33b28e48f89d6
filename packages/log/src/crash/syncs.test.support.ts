/**
 * Every place where the engine makes something durable: what it syncs, and who asks for it. A place that is not in this table fails the
 * test that goes with it, and so does an entry whose sync nobody asks for.
 */
import type { DiskOperation } from '../memory-disk.js'

export interface Sync {
  readonly kind: 'sync' | 'syncDirectory'
  readonly path: RegExp
  /** Functions on the way to it, innermost first, as a stack trace names them. */
  readonly by: RegExp
  /** How it is shown what a lie does; by default by the simulator. */
  readonly shown?: 'on a stage'
  /** A seed that finds it soon; 1 by default. Another is looked for when it no longer does. */
  readonly seed?: number
  /** Why a lie does no harm here. */
  readonly harmless?: string
}

const LOG = /\d{20}\.log$/
const FOLDER = /^\/data\/[^/]+-\d+$/
const DATA = /^\/data$/

export const SYNCS: Readonly<Record<string, Sync>> = {
  'the data of the active segment, at a flush': { kind: 'sync', path: LOG, by: /Segment\.syncData < #syncSegment/ },
  'the data of a closed segment, at a flush': { kind: 'sync', path: LOG, by: /Segment\.sync < #syncClosed/ },
  'the data that stays, at a truncation': { kind: 'sync', path: LOG, by: /Segment\.syncData < #truncateTo/ },
  'the data that stays, after recovery cut it': {
    kind: 'sync',
    path: LOG,
    by: /Segment\.syncData < #recover/,
    shown: 'on a stage',
  },
  'what had to be built again below the recovery point': {
    kind: 'sync',
    path: /\.(log|index|timeindex|txnindex)$/,
    by: /Segment\.sync < #recover/,
    shown: 'on a stage',
  },
  'an offset index, at a flush': {
    kind: 'sync',
    path: /\.index$/,
    by: /Segment\.syncIndexes < Segment\.sync < #syncClosed/,
    seed: 4,
  },
  'an offset index, at a clean stop': { kind: 'sync', path: /\.index$/, by: /Segment\.syncIndexes < #settle/, seed: 2 },
  'a time index, at a flush': { kind: 'sync', path: /\.timeindex$/, by: /Segment\.sync < #syncClosed/ },
  'a time index, at a clean stop': { kind: 'sync', path: /\.timeindex$/, by: /Segment\.syncIndexes < #settle/, seed: 9 },
  'a transaction index, at a flush': { kind: 'sync', path: /\.txnindex$/, by: /Segment\.sync < #syncClosed/, seed: 3 },
  'a transaction index, at a clean stop': { kind: 'sync', path: /\.txnindex$/, by: /Segment\.syncIndexes < #settle/, seed: 2 },
  'a producer snapshot, at a flush': {
    kind: 'sync',
    path: /\.snapshot$/,
    by: /Snapshots\.sync < #syncClosed/,
    harmless: 'a start builds producers again from the records',
  },
  'a producer snapshot, at a clean stop': { kind: 'sync', path: /\.snapshot$/, by: /Snapshots\.sync < #settle/, seed: 10 },
  'the partition folder, at a flush': { kind: 'syncDirectory', path: FOLDER, by: /^#flushNow/, seed: 2 },
  'the partition folder, at a clean stop': { kind: 'syncDirectory', path: FOLDER, by: /^#settle/, seed: 13 },
  'the partition folder, at a truncation': { kind: 'syncDirectory', path: FOLDER, by: /^#truncateTo/, seed: 4 },
  'the partition folder, after recovery removed segments': {
    kind: 'syncDirectory',
    path: FOLDER,
    by: /^Loading\.run/,
    shown: 'on a stage',
  },
  'the partition folder, after retention': {
    kind: 'syncDirectory',
    path: FOLDER,
    by: /applyRetention|^Cleaner\.runOnce/,
    seed: 3,
  },
  'the data of a cleaned segment': { kind: 'sync', path: /\.log\.cleaned$/, by: /Segment\.sync < swapSegments/, seed: 12 },
  'an offset index of a cleaned segment': {
    kind: 'sync',
    path: /\.index\.cleaned$/,
    by: /Segment\.sync < swapSegments/,
    seed: 200,
  },
  'a time index of a cleaned segment': {
    kind: 'sync',
    path: /\.timeindex\.cleaned$/,
    by: /Segment\.sync < swapSegments/,
    seed: 12,
  },
  'a transaction index of a cleaned segment': {
    kind: 'sync',
    path: /\.txnindex\.cleaned$/,
    by: /Segment\.sync < swapSegments/,
    seed: 12,
  },
  'the partition folder, at a swap': { kind: 'syncDirectory', path: FOLDER, by: /^sync < swapSegments/, seed: 12 },
  'the partition folder, at a swap that a start finishes': {
    kind: 'syncDirectory',
    path: FOLDER,
    by: /^finishInterrupted/,
    harmless: 'where the folder keeps the order of its changes, the next start finishes the swap again',
  },
  'the log directory, when a folder was made or renamed': { kind: 'syncDirectory', path: DATA, by: /^$/ },
  'the log directory, when the mark of a clean stop is taken away': {
    kind: 'syncDirectory',
    path: DATA,
    by: /^LogDirectory\.claim/,
    seed: 2,
  },
  'the folder of the log directory, when it is made': { kind: 'syncDirectory', path: /^\/$/, by: /^makeDirectory/ },
  'a temporary leader-epoch-checkpoint': { kind: 'sync', path: /leader-epoch-checkpoint\.tmp$/, by: /^writeAtomically/ },
  'the folder of a renamed leader-epoch-checkpoint': { kind: 'syncDirectory', path: FOLDER, by: /^writeAtomically$/ },
  'a temporary partition.metadata': { kind: 'sync', path: /partition\.metadata\.tmp$/, by: /^writeAtomically/ },
  'the folder of a renamed partition.metadata': {
    kind: 'syncDirectory',
    path: FOLDER,
    by: /^writeAtomically < LogState\.writeTopicId/,
  },
  'a temporary recovery-point-offset-checkpoint': {
    kind: 'sync',
    path: /recovery-point-offset-checkpoint\.tmp$/,
    by: /^writeAtomically/,
    seed: 1,
  },
  'a temporary log-start-offset-checkpoint': { kind: 'sync', path: /log-start-offset-checkpoint\.tmp$/, by: /^writeAtomically/ },
  'a temporary replication-offset-checkpoint': {
    kind: 'sync',
    path: /replication-offset-checkpoint\.tmp$/,
    by: /^writeAtomically/,
  },
  'a temporary cleaner-offset-checkpoint': {
    kind: 'sync',
    path: /cleaner-offset-checkpoint\.tmp$/,
    by: /^writeAtomically/,
    harmless: 'a file that is not whole counts as empty: all is cleaned again',
  },
  'the log directory of a renamed cleaner-offset-checkpoint': {
    kind: 'syncDirectory',
    path: DATA,
    by: /^writeAtomically$/,
    harmless: 'what counts as dirty is cleaned again, what counts as clean stays as it is',
  },
  'the log directory of a renamed checkpoint': { kind: 'syncDirectory', path: DATA, by: /^writeAtomically < #checkpointNow/ },
  'a temporary meta.properties': { kind: 'sync', path: /meta\.properties\.tmp$/, by: /^writeAtomically/ },
  'the log directory of a renamed meta.properties': {
    kind: 'syncDirectory',
    path: DATA,
    by: /^writeAtomically < #checkOwner/,
    harmless: 'the directory is synced again before it is used',
  },
  'a temporary mark of a clean stop': {
    kind: 'sync',
    path: /\.kafka_cleanshutdown\.tmp$/,
    by: /^writeAtomically/,
    harmless: 'nothing is read of the mark but that it is there',
  },
  'the log directory of a renamed mark of a clean stop': {
    kind: 'syncDirectory',
    path: DATA,
    by: /^writeAtomically < LogDirectory\.close/,
    harmless: 'without the mark a start scans what is on the disk',
  },
}

/** Frames of the disk and of the workload say nothing of who asked. */
const OF_THE_TEST =
  /^(Object\.|Memory|Machine\.|Life\.|Stops\.|#asked|#mustRun|#examineOne|#delayed|run$|callersOf$|isAskedBy$|LazyFile\.|IndexFile\.|Paced|Syncs\.|Turns\.)/

/** Who asked for the operation that is about to happen. */
export function callersOf(): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 40
  const lines = new Error().stack!.split('\n').slice(2)
  Error.stackTraceLimit = limit
  const names = lines.map((line) => /at (?:async )?(?:new )?([\w.#]+) /.exec(line)?.[1] ?? '')
  return names.filter((name) => name !== '' && name !== 'async' && !OF_THE_TEST.test(name)).join(' < ')
}

export function isAskedBy({ kind, path, by }: Sync, operation: DiskOperation, callers: string): boolean {
  return operation.kind === kind && path.test(operation.path) && by.test(callers)
}
