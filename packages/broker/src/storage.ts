/**
 * Where a broker keeps things: its log directories and its metadata store, on disk or in memory, and whose they are (broker id and
 * cluster id). What is on disk decides; a config that says otherwise stops the start.
 */
import { resolve, sep } from 'node:path'
import {
  type BrokerLogDirectories,
  type Disk,
  DiskError,
  type DiskErrorCode,
  LogDirectories,
  LogDirectoryError,
  lockDirectory,
  MemoryDisk,
  type MetaProperties,
  nodeDisk,
  nodeEnvironment,
  readDirectoryOwner,
  unlockDirectory,
} from '@mq/log'
import { newUuid } from '@mq/protocol'
import type { ReadConfig } from './config/read.js'
import { epochsInCheckpoints } from './metadata/disk-scan.js'
import { EmbeddedStore } from './metadata/embedded.js'
import { JOURNAL_FILE, METADATA_FILE_PREFIX } from './metadata/journal.js'
import { MetadataDamageError } from './metadata/journal-format.js'
import type { MetadataStore } from './metadata/store.js'
import { putNode } from './metadata/subtree.js'
import { ZNODES } from './metadata/znodes.js'
import { partitionConfigOf } from './partition-channel.js'
import type { Environment, Logger } from './ports.js'
import { StartError } from './start-error.js'

/** Why a running broker ended by itself. */
export interface BrokerFailure {
  /** `storage`: no data directory is left to serve; `defect`: a broken invariant. */
  readonly kind: 'storage' | 'defect'
  readonly message: string
}

export interface Storage {
  readonly brokerId: number
  readonly clusterId: string
  /** Absolute paths; none in memory. */
  readonly directories: readonly string[]
  readonly logs: LogDirectories
  readonly store: MetadataStore
  /** Whether the metadata store had no files before this start. */
  readonly storeOrigin: 'found' | 'new'
  readonly disk: Disk
  /** Latest leader epochs by `topic-index`, as the checkpoints had them before the logs were loaded. */
  readonly epochsBefore: ReadonlyMap<string, number>
  /** Compaction begins: the configs of all topics are known. */
  startCleaner(): void
  close(): Promise<void>
}

export interface StorageOptions {
  readonly kind: 'disk' | 'memory'
  readonly directories: readonly string[]
  /** Default: the real one. */
  readonly disk?: Disk
  /** Null: the one in the data directory, else the first one above `reserved.broker.max.id`. */
  readonly brokerId: number | null
  readonly settings: ReadConfig
  readonly environment: Environment
  readonly log: Logger
  readonly onFailure: (failure: BrokerFailure) => void
}

const MEMORY_DIRECTORY = '/memory'

/** Locks and loads everything. Rejects with a StartError; nothing stays locked then. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const inMemory = options.kind === 'memory'
  const disk = inMemory
    ? new MemoryDisk({ durability: 'ignored', now: () => options.environment.clock.now() })
    : (options.disk ?? nodeDisk)
  const directories = inMemory ? [MEMORY_DIRECTORY] : options.directories.map((path) => resolve(path))
  const undo: (() => Promise<void>)[] = []
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const owner = ownerOf(disk, directories)
    const brokerId = options.brokerId ?? owner?.brokerId ?? options.settings.values['reserved.broker.max.id'] + 1
    const clusterId = owner?.clusterId ?? newUuid(options.environment.random)
    const epochsBefore = epochsInCheckpoints(disk, directories)
    const logs = await openLogs(options, { disk, directories, brokerId, clusterId })
    undo.push(() => logs.close())
    const directory = metadataDirectory(options.settings, disk, directories)
    if (!inMemory && !directories.includes(directory)) {
      await takeDirectory(options, disk, directory)
      undo.push(async () => unlockDirectory(disk, directory))
    }
    const store = inMemory ? EmbeddedStore.inMemory(options.environment.clock) : await openStore(options, disk, directory)
    undo.push(() => store.close())
    const session = store.connect()
    await checkClusterId(session, clusterId)
    return {
      brokerId,
      clusterId,
      directories: inMemory ? [] : directories,
      logs,
      store: session,
      storeOrigin: store.origin,
      disk,
      epochsBefore,
      startCleaner: () => logs.startCleaner(),
      close,
    }
  } catch (error) {
    await close().catch(() => {})
    throw startErrorOf(error, options.settings)
  }
}

async function openLogs(
  { settings, environment, log, onFailure }: StorageOptions,
  opened: { disk: Disk; directories: readonly string[]; brokerId: number; clusterId: string },
): Promise<BrokerLogDirectories> {
  const { disk, directories, brokerId, clusterId } = opened
  const failed = new Map<string, DiskError>()
  const inherited = partitionConfigOf({}, settings)
  const opening = LogDirectories.open({
    ...environment,
    dirs: directories,
    disk,
    offload: nodeEnvironment.offload,
    logger: log,
    brokerId,
    clusterId,
    config: settings.values,
    // The metadata is read when the directories are ours; the topics' own values follow then.
    topicConfig: () => inherited,
    cleaner: 'waits',
    whenDirectoryFails: (directory, error) => {
      failed.set(directory, error)
      if (failed.size < directories.length) return
      const what = `every log directory has failed, the last one was ${directory}: ${error.message}`
      onFailure({ kind: 'storage', message: `${what}; ${ELSEWHERE}` })
    },
  })
  try {
    return await opening
  } catch (error) {
    // What the disk said is worth more than that it said something.
    throw error instanceof LogDirectoryError && error.reason === 'failed' ? (failed.get(error.directory) ?? error) : error
  }
}

/** A directory for the metadata alone is locked as those of the logs are: two brokers on one journal would ruin it. */
async function takeDirectory({ environment }: StorageOptions, disk: Disk, directory: string): Promise<void> {
  disk.makeDirectoryNow(directory)
  const holder = await lockDirectory({ ...environment, disk }, directory)
  if (holder !== null)
    throw new StartError(
      `mq.metadata.dir=${directory} is in use by ${holder}; give another one by --override mq.metadata.dir=DIR`,
    )
}

async function openStore(
  { environment, settings, log, onFailure }: StorageOptions,
  disk: Disk,
  directory: string,
): Promise<EmbeddedStore> {
  disk.makeDirectoryNow(directory)
  const store = await EmbeddedStore.open({
    disk,
    directory,
    clock: environment.clock,
    onFailed: (error) => {
      const what = `the metadata in ${directory} cannot be written: ${(error as Error).message}`
      onFailure({ kind: 'storage', message: `${what}; ${elsewhere(directory, settings)}` })
    },
  })
  if (store.cutBytes > 0) {
    log.warn({ directory, bytes: store.cutBytes }, `${store.cutBytes} bytes of an unfinished write were cut from ${JOURNAL_FILE}`)
  }
  return store
}

/** The first of `log.dirs`, or `mq.metadata.dir`. Metadata that lies elsewhere in `log.dirs` is not passed over: it would look lost. */
function metadataDirectory(settings: ReadConfig, disk: Disk, directories: readonly string[]): string {
  const own = ownMetadataDirectory(settings)
  const path = own ?? directories[0]!
  const around = directories.find((one) => path.startsWith(one.endsWith(sep) ? one : `${one}${sep}`))
  if (around !== undefined) {
    // Java would not start on a directory that holds a folder which is no partition.
    throw new StartError(
      `mq.metadata.dir=${own} lies inside the log directory ${around}; give one outside of log.dirs by --override mq.metadata.dir=DIR`,
    )
  }
  const holds = (directory: string) => disk.statNow(`${directory}/${JOURNAL_FILE}`) !== null
  const elsewhere = directories.find((one) => one !== path && holds(one))
  if (elsewhere !== undefined) {
    throw new StartError(
      `the metadata of this broker is in ${elsewhere}, and was looked for in ${path}: ` +
        `move the files ${METADATA_FILE_PREFIX}* there, or set mq.metadata.dir or the order of log.dirs as it was (--override NAME=VALUE)`,
    )
  }
  return path
}

/** Whose the directories are; null when all are new. */
function ownerOf(disk: Disk, directories: readonly string[]): MetaProperties | null {
  let owner: MetaProperties | null = null
  for (const directory of directories) {
    const found = readDirectoryOwner(disk, directory)
    if (found === null) continue
    if (owner !== null && (owner.brokerId !== found.brokerId || owner.clusterId !== found.clusterId)) {
      throw new StartError(
        `log.dirs mixes directories of different brokers: ${directory} belongs to broker ${found.brokerId} of cluster ${found.clusterId}, ` +
          `the ones before to broker ${owner.brokerId} of cluster ${owner.clusterId}; ${ELSEWHERE}`,
      )
    }
    owner = found
  }
  return owner
}

/** The store and the directories must be of one cluster. */
async function checkClusterId(store: MetadataStore, clusterId: string): Promise<void> {
  const path = ZNODES.clusterId.path()
  const node = await store.get(path)
  if (node === null) return putNode(store, path, ZNODES.clusterId.encode(clusterId))
  const known = ZNODES.clusterId.decode(node.data, path)
  if (known === clusterId) return
  throw new StartError(
    `the metadata is of cluster ${known}, and the log directories are of cluster ${clusterId}: they do not belong together; ${ELSEWHERE}`,
  )
}

/** The disk itself is at fault, and not what it was asked for. */
const BROKEN: ReadonlySet<DiskErrorCode> = new Set(['EIO', 'ENOSPC', 'EDQUOT'])

/** What the user can change about a directory. */
const ELSEWHERE = 'give another directory by --data DIR, or log.dirs'

/** `mq.metadata.dir`, absolute; null when it is not set. */
const ownMetadataDirectory = (settings: ReadConfig): string | null => {
  const own = settings.values['mq.metadata.dir']
  return own === null || own === '' ? null : resolve(own)
}

function elsewhere(path: string, settings: ReadConfig): string {
  const own = ownMetadataDirectory(settings)
  return own !== null && path.startsWith(own) ? 'give another directory by --override mq.metadata.dir=DIR' : ELSEWHERE
}

function startErrorOf(error: unknown, settings: ReadConfig): unknown {
  if (error instanceof StartError) return error
  if (error instanceof LogDirectoryError) return new StartError(`${error.message}; ${ELSEWHERE}`, 1, { cause: error })
  if (error instanceof MetadataDamageError) {
    const line = `${error.message}; put ${METADATA_FILE_PREFIX}* back from a copy, or ${elsewhere(error.path, settings)}`
    return new StartError(line, 3, { cause: error })
  }
  if (!(error instanceof DiskError)) return error
  const line = `${error.message}; ${elsewhere(error.path, settings)}`
  return new StartError(line, BROKEN.has(error.code) ? 3 : 1, { cause: error })
}
