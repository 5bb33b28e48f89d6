/**
 * Folders and files of the disk in memory: what they hold now, and what they would hold after the machine stopped.
 */
import { Pages } from './pages.js'

/** A write or a truncation that is not yet durable. */
interface Unsynced {
  readonly position: number
  /** Null for a truncation to `position`. */
  readonly bytes: Buffer | null
}

/** A change that a stop of the machine may undo; a truncation has size 1. */
export interface Lost {
  readonly sizeInBytes: number
}

/** A change of names in a folder that a stop of the machine may undo. */
export interface LostName {
  readonly folder: string
  /** `made x`, `removed x`, `renamed x to y`, or `moved x away` to another folder. */
  readonly what: string
}

/** How much of a write survives: its first bytes, or a part of it. */
export type Kept = number | { readonly from: number; readonly to: number }

export type Node = Content | Folder

export class Folder {
  readonly names = new Map<string, Node>()
  durable = new Map<string, Node>()

  /** Everything in it as it is becomes durable. */
  syncAll(): void {
    this.durable = new Map(this.names)
    for (const node of this.names.values()) {
      if (node instanceof Folder) node.syncAll()
      else node.sync(node.changes)
    }
  }
}

/** A change of the names in a folder: durable once the folder is synced. */
export interface NameChange {
  readonly folder: Folder
  readonly path: string
  readonly what: string
  readonly apply: (names: Map<string, Node>) => void
}

export class Content {
  readonly now = new Pages()
  readonly #durable: Pages | null
  #unsynced: Unsynced[] = []
  /** Counts the writes and truncations. */
  changes = 0
  modifiedMs = 0

  constructor(durability: 'watched' | 'ignored') {
    this.#durable = durability === 'watched' ? new Pages() : null
  }

  write(position: number, bytes: Buffer): void {
    this.now.write(position, bytes)
    this.#changed({ position, bytes: this.#durable === null ? null : Buffer.from(bytes) })
  }

  truncate(sizeInBytes: number): void {
    this.now.truncate(sizeInBytes)
    this.#changed({ position: sizeInBytes, bytes: null })
  }

  #changed(change: Unsynced): void {
    this.changes++
    if (this.#durable !== null) this.#unsynced.push(change)
  }

  /** The first so many changes become durable. */
  sync(changes: number): void {
    const done = Math.max(0, this.#unsynced.length - (this.changes - changes))
    for (const change of this.#unsynced.splice(0, done)) apply(change, this.#durable)
  }

  /** What is left of it after a stop of the machine, all of it durable. */
  afterCrash(keep: (change: Lost) => Kept): Content {
    const left = new Content(this.#durable === null ? 'ignored' : 'watched')
    left.modifiedMs = this.modifiedMs
    if (this.#durable === null || left.#durable === null) return left
    left.#durable.copyOf(this.#durable)
    for (const { position, bytes } of this.#unsynced) {
      const kept = keep({ sizeInBytes: bytes?.length ?? 1 })
      const { from, to } = typeof kept === 'number' ? { from: 0, to: kept } : kept
      if (from >= to) continue
      apply(bytes === null ? { position, bytes } : { position: position + from, bytes: bytes.subarray(from, to) }, left.#durable)
    }
    left.now.copyOf(left.#durable)
    return left
  }
}

function apply({ position, bytes }: Unsynced, pages: Pages | null): void {
  if (bytes === null) pages?.truncate(position)
  else pages?.write(position, bytes)
}

/** A folder with all that is left in it after a stop of the machine. */
export function copyOf(
  folder: Folder,
  namesOf: (folder: Folder) => ReadonlyMap<string, Node>,
  keep: (change: Lost) => Kept,
): Folder {
  const copies = new Map<Node, Node>()
  const copy = (node: Node): Node => {
    const known = copies.get(node)
    if (known !== undefined) return known
    const made = node instanceof Folder ? new Folder() : node.afterCrash(keep)
    copies.set(node, made)
    if (node instanceof Folder && made instanceof Folder) {
      for (const [name, inside] of namesOf(node)) made.names.set(name, copy(inside))
      made.durable = new Map(made.names)
    }
    return made
  }
  return copy(folder) as Folder
}
