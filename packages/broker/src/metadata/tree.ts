/**
 * The tree of the embedded store, by ZooKeeper's rules. `decide` only reads and names the changes; `apply` is the only mutator, so that
 * live calls and the replay of a journal take the same road. Pure and synchronous: no clock, no disk.
 */
import {
  MAX_NODE_BYTES,
  nameOf,
  type OperationResult,
  parentOf,
  pathProblem,
  type Stat,
  StoreError,
  type StoreOperation,
} from './store.js'

/** A change as the journal keeps it: conditions are checked, sequence numbers given. */
export type Change =
  | { readonly kind: 'create'; readonly path: string; readonly data: Buffer | null; readonly owner: string | null }
  | { readonly kind: 'set'; readonly path: string; readonly data: Buffer | null }
  | { readonly kind: 'delete'; readonly path: string }

export interface Transaction {
  /** One more than the transaction before. */
  readonly zxid: number
  /** Wall clock, for ctime and mtime. */
  readonly time: number
  readonly changes: readonly Change[]
}

/**
 * One node. ZooKeeper counts only creations of children (the next sequence number) and shows
 * cversion = creations + removals = 2 × creations − children.
 */
export interface TreeNode {
  data: Buffer | null
  readonly czxid: number
  readonly ctime: number
  mzxid: number
  mtime: number
  pzxid: number
  version: number
  childrenCreated: number
  readonly owner: string | null
  readonly children: Set<string>
}

/** What `decide` knows of a node half-way through a multi. */
interface Draft {
  exists: boolean
  version: number
  owner: string | null
  childCount: number
  childrenCreated: number
}

const SEQUENCE_LIMIT = 2 ** 31

export class Tree {
  #zxid = 0
  readonly #nodes = new Map<string, TreeNode>([['/', rootNode()]])
  readonly #ephemerals = new Map<string, Set<string>>()

  get zxid(): number {
    return this.#zxid
  }

  get nodeCount(): number {
    return this.#nodes.size
  }

  node(path: string): Readonly<TreeNode> | undefined {
    return this.#nodes.get(path)
  }

  /** Parents before their children. */
  nodes(): Iterable<[string, Readonly<TreeNode>]> {
    return this.#nodes
  }

  stat(path: string): Stat | null {
    const node = this.#nodes.get(path)
    return node === undefined ? null : statOf(node)
  }

  /** Sessions that own nodes. */
  owners(): string[] {
    return [...this.#ephemerals.keys()]
  }

  /** Removal of all that these sessions own. */
  decideEnd(sessions: readonly string[]): Change[] {
    return sessions.flatMap((session) =>
      [...(this.#ephemerals.get(session) ?? [])].map((path) => ({ kind: 'delete' as const, path })),
    )
  }

  /** The changes that these operations mean now, and the paths as created; throws StoreError (and nothing has changed) when one refuses. */
  decide(operations: readonly StoreOperation[], session: string): Change[] {
    const drafts = new Map<string, Draft>()
    const changes: Change[] = []
    operations.forEach((operation, index) => {
      const refuse = (code: StoreError['code']) => new StoreError(code, operation.path, operations.length > 1 ? index : undefined)
      if (pathProblem(operation.path) !== null) throw refuse('BAD_ARGUMENTS')
      if (operation.kind === 'create') {
        changes.push(this.#decideCreate(operation, session, drafts, refuse))
        return
      }
      const node = this.#draft(operation.path, drafts)
      if (!node.exists) throw refuse('NO_NODE')
      if (operation.version !== undefined && operation.version !== node.version) throw refuse('BAD_VERSION')
      if (operation.kind === 'set') {
        if ((operation.data?.length ?? 0) > MAX_NODE_BYTES) throw refuse('BAD_ARGUMENTS')
        node.version++
        changes.push({ kind: 'set', path: operation.path, data: operation.data })
      } else if (operation.kind === 'delete') {
        if (operation.path === '/') throw refuse('BAD_ARGUMENTS')
        if (node.childCount > 0) throw refuse('NOT_EMPTY')
        node.exists = false
        this.#draft(parentOf(operation.path), drafts).childCount--
        changes.push({ kind: 'delete', path: operation.path })
      }
    })
    return changes
  }

  #decideCreate(
    operation: StoreOperation & { kind: 'create' },
    session: string,
    drafts: Map<string, Draft>,
    refuse: (code: StoreError['code']) => StoreError,
  ): Change {
    if ((operation.data?.length ?? 0) > MAX_NODE_BYTES) throw refuse('BAD_ARGUMENTS')
    if (operation.path === '/') throw refuse('NODE_EXISTS')
    const parent = this.#draft(parentOf(operation.path), drafts)
    if (!parent.exists) throw refuse('NO_NODE')
    if (operation.sequential === true && parent.childrenCreated >= SEQUENCE_LIMIT) throw refuse('BAD_ARGUMENTS')
    const path =
      operation.sequential === true ? `${operation.path}${String(parent.childrenCreated).padStart(10, '0')}` : operation.path
    const node = this.#draft(path, drafts)
    if (node.exists) throw refuse('NODE_EXISTS')
    if (parent.owner !== null) throw refuse('NO_CHILDREN_FOR_EPHEMERALS')
    parent.childCount++
    parent.childrenCreated++
    const owner = operation.ephemeral === true ? session : null
    drafts.set(path, { exists: true, version: 0, owner, childCount: 0, childrenCreated: 0 })
    return { kind: 'create', path, data: operation.data, owner }
  }

  #draft(path: string, drafts: Map<string, Draft>): Draft {
    let draft = drafts.get(path)
    if (draft === undefined) {
      const node = this.#nodes.get(path)
      draft = {
        exists: node !== undefined,
        version: node?.version ?? 0,
        owner: node?.owner ?? null,
        childCount: node?.children.size ?? 0,
        childrenCreated: node?.childrenCreated ?? 0,
      }
      drafts.set(path, draft)
    }
    return draft
  }

  /** Carries out what was decided (or read from a journal). The results stand for the changes, one by one. */
  apply(transaction: Transaction): OperationResult[] {
    this.#zxid = transaction.zxid
    return transaction.changes.map((change) => this.#carryOut(change, transaction))
  }

  #carryOut(change: Change, transaction: Transaction): OperationResult {
    switch (change.kind) {
      case 'create':
        this.#create(change, transaction)
        return { kind: 'create', path: change.path }
      case 'set':
        return { kind: 'set', stat: this.#set(change, transaction) }
      case 'delete':
        this.#delete(change.path, transaction.zxid)
        return { kind: 'delete' }
    }
  }

  /** Puts a node back as a snapshot has it; its parent must be there already. */
  restore(path: string, node: Omit<TreeNode, 'children'>, zxid: number): void {
    this.#zxid = Math.max(this.#zxid, zxid)
    const children = new Set<string>()
    this.#nodes.set(path, { ...node, children })
    if (path !== '/') this.#mustBeThere(parentOf(path)).children.add(nameOf(path))
    if (node.owner !== null) this.#own(node.owner, path)
  }

  #create(change: Change & { kind: 'create' }, { zxid, time }: Transaction): void {
    const parent = this.#mustBeThere(parentOf(change.path))
    if (this.#nodes.has(change.path)) throw new StoreError('NODE_EXISTS', change.path)
    parent.children.add(nameOf(change.path))
    parent.childrenCreated++
    parent.pzxid = zxid
    this.#nodes.set(change.path, {
      data: change.data,
      czxid: zxid,
      mzxid: zxid,
      pzxid: zxid,
      ctime: time,
      mtime: time,
      version: 0,
      childrenCreated: 0,
      owner: change.owner,
      children: new Set(),
    })
    if (change.owner !== null) this.#own(change.owner, change.path)
  }

  #set(change: Change & { kind: 'set' }, { zxid, time }: Transaction): Stat {
    const node = this.#mustBeThere(change.path)
    node.data = change.data
    node.version++
    node.mzxid = zxid
    node.mtime = time
    return statOf(node)
  }

  #delete(path: string, zxid: number): void {
    const node = this.#mustBeThere(path)
    const parent = this.#mustBeThere(parentOf(path))
    parent.children.delete(nameOf(path))
    parent.pzxid = zxid
    this.#nodes.delete(path)
    if (node.owner === null) return
    const owned = this.#ephemerals.get(node.owner)
    owned?.delete(path)
    if (owned?.size === 0) this.#ephemerals.delete(node.owner)
  }

  #own(session: string, path: string): void {
    const owned = this.#ephemerals.get(session)
    if (owned === undefined) this.#ephemerals.set(session, new Set([path]))
    else owned.add(path)
  }

  #mustBeThere(path: string): TreeNode {
    const node = this.#nodes.get(path)
    if (node === undefined) throw new StoreError('NO_NODE', path)
    return node
  }
}

function rootNode(): TreeNode {
  const zero = { czxid: 0, mzxid: 0, pzxid: 0, ctime: 0, mtime: 0, version: 0, childrenCreated: 0 }
  return { data: Buffer.alloc(0), ...zero, owner: null, children: new Set() }
}

function statOf(node: Readonly<TreeNode>): Stat {
  return {
    czxid: node.czxid,
    mzxid: node.mzxid,
    pzxid: node.pzxid,
    ctime: node.ctime,
    mtime: node.mtime,
    version: node.version,
    cversion: node.childrenCreated * 2 - node.children.size,
    ephemeralOwner: node.owner,
    dataLength: node.data?.length ?? 0,
    numChildren: node.children.size,
  }
}
