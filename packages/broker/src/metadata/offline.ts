/**
 * The metadata of a data directory while no broker runs on it: what `mq metadata import` and `export` do. The directories are locked
 * meanwhile, as by a broker.
 */
import { resolve } from 'node:path'
import {
  type Disk,
  lockDirectory,
  type MetaProperties,
  nodeDisk,
  nodeProcesses,
  type Processes,
  readDirectoryOwner,
  unlockDirectory,
} from '@mq/log'
import { nodeEnvironment } from '../node-environment.js'
import { StartError } from '../start-error.js'
import { EmbeddedStore } from './embedded.js'
import { type ImportResult, importTree } from './import.js'
import type { MetadataStore } from './store.js'
import { putNode } from './subtree.js'
import { exportTree, parseTree } from './tree-file.js'
import { ZNODES } from './znodes.js'

export interface OfflineOptions {
  /** `log.dirs`. */
  readonly directories: readonly string[]
  /** `mq.metadata.dir`; default: the first of the directories. */
  readonly metadataDirectory?: string
  readonly disk?: Disk
  readonly processes?: Processes
  /** Default: the real one. */
  readonly now?: () => number
}

/** Takes a tree (text in the format of `exportMetadata`) into the directory's metadata. Throws StartError or TreeFileError, with nothing done. */
export function importMetadata(options: OfflineOptions, text: string): Promise<ImportResult> {
  const nodes = parseTree(text)
  return withStore(options, (store, owner) => importTree(store, nodes, owner.brokerId))
}

/** The directory's metadata as text: a JSON list with one node each. */
export function exportMetadata(options: OfflineOptions): Promise<string> {
  return withStore(options, exportTree)
}

async function withStore<R>(
  options: OfflineOptions,
  use: (store: MetadataStore, owner: MetaProperties) => Promise<R>,
): Promise<R> {
  const { clock } = nodeEnvironment()
  const { disk = nodeDisk, processes = nodeProcesses, now = clock.now } = options
  const directories = options.directories.map((path) => resolve(path))
  const locked: string[] = []
  try {
    const owner = ownerOf(disk, directories)
    const metadata = resolve(options.metadataDirectory ?? directories[0]!)
    disk.makeDirectoryNow(metadata)
    for (const directory of new Set([...directories, metadata])) {
      const holder = await lockDirectory({ disk, processes, clock }, directory)
      if (holder !== null) throw new StartError(`${directory} is in use by ${holder}; stop that broker first`)
      locked.push(directory)
    }
    const store = await EmbeddedStore.open({ disk, directory: metadata, clock: { now } })
    try {
      const session = store.connect()
      const clusterId = ZNODES.clusterId.path()
      if ((await session.exists(clusterId)) === null) await putNode(session, clusterId, ZNODES.clusterId.encode(owner.clusterId))
      return await use(session, owner)
    } finally {
      await store.close()
    }
  } finally {
    for (const directory of locked) unlockDirectory(disk, directory)
  }
}

function ownerOf(disk: Disk, directories: readonly string[]): MetaProperties {
  for (const directory of directories) {
    const owner = disk.statNow(directory) === null ? null : readDirectoryOwner(disk, directory)
    if (owner !== null) return owner
  }
  throw new StartError(
    `${directories.join(', ')}: no broker has used this directory (there is no meta.properties); name the one that Kafka used`,
  )
}
