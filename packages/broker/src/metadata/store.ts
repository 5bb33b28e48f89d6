/**
 * The port behind which the cluster's metadata lives, in ZooKeeper's own model: paths, bytes, versions, ephemerals bound to a session,
 * sequences, one-shot watches, atomic `multi` with checks. Everything above sees only this; `embedded.ts` is one implementation.
 */

/** What a node's last change was. Transaction ids (`…zxid`) only rise over the whole store; Kafka uses `czxid` of a registration as broker epoch. */
export interface Stat {
  /** Transaction that created the node. */
  readonly czxid: number
  /** Transaction that last set its data. */
  readonly mzxid: number
  /** Transaction that last added or removed a child (its own creation at first). */
  readonly pzxid: number
  /** Wall clock of creation and of the last set, in ms. */
  readonly ctime: number
  readonly mtime: number
  /** Sets since the creation: what `{ version }` conditions compare. */
  readonly version: number
  /** Changes of the list of children: creations and removals. */
  readonly cversion: number
  /** Session that owns the node, null when it is persistent. */
  readonly ephemeralOwner: string | null
  readonly dataLength: number
  readonly numChildren: number
}

export interface Node {
  /** Null data and empty data are different things, as in ZooKeeper. */
  readonly data: Buffer | null
  readonly stat: Stat
}

export type StoreErrorCode =
  | 'NO_NODE'
  | 'NODE_EXISTS'
  | 'BAD_VERSION'
  | 'NOT_EMPTY'
  | 'NO_CHILDREN_FOR_EPHEMERALS'
  | 'BAD_ARGUMENTS'
  | 'SESSION_EXPIRED'
  | 'CONNECTION_LOSS'
  | 'CLOSED'
  | 'STORAGE_FAILED'

/** How every call of a store fails. With `CONNECTION_LOSS` the call may or may not have taken effect: read back before acting on it. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  constructor(
    readonly code: StoreErrorCode,
    readonly path: string,
    /** In a `multi`: which operation refused. Nothing of the others took effect. */
    readonly operation?: number,
    options?: { cause?: unknown },
  ) {
    super(`${code} at ${path || 'the store'}${operation === undefined ? '' : ` (operation ${operation})`}`, options)
  }
}

/** True for a StoreError of one of these codes: `catch (e) { if (!isStoreError(e, 'NODE_EXISTS')) throw e }`. */
export const isStoreError = (error: unknown, ...codes: StoreErrorCode[]): error is StoreError =>
  error instanceof StoreError && (codes.length === 0 || codes.includes(error.code))

export interface CreateOptions {
  /** Gone when the session ends. An ephemeral node has no children. */
  readonly ephemeral?: boolean
  /** A ten-digit number that only rises under that parent is appended to the name. */
  readonly sequential?: boolean
}

export interface Condition {
  /** The node must have exactly this version. Left out: any. */
  readonly version?: number
}

export type StoreOperation =
  | ({ readonly kind: 'create'; readonly path: string; readonly data: Buffer | null } & CreateOptions)
  | ({ readonly kind: 'set'; readonly path: string; readonly data: Buffer | null } & Condition)
  | ({ readonly kind: 'delete'; readonly path: string } & Condition)
  | { readonly kind: 'check'; readonly path: string; readonly version: number }

export type OperationResult =
  | { readonly kind: 'create'; readonly path: string }
  | { readonly kind: 'set'; readonly stat: Stat }
  | { readonly kind: 'delete' }
  | { readonly kind: 'check' }

export interface WatchEvent {
  readonly kind: 'created' | 'deleted' | 'dataChanged' | 'childrenChanged'
  readonly path: string
}

/** Called at most once, after the change is durable and before any read that was asked after it answers. */
export type Watcher = (event: WatchEvent) => void

/*            lost                    reconnected in time
 * connected ──────▶ disconnected ──────────────────────▶ connected
 *     │                  │ session time over
 *     │ close            └──────────────▶ expired      (ephemerals are gone; a new session is a new store object)
 *     └──▶ closed                                                                                                    */
export type SessionState = 'connected' | 'disconnected' | 'expired' | 'closed'

/** One session with the store. Calls of one session take effect in the order in which they were made. */
export interface MetadataStore {
  /** Names the session in `Stat.ephemeralOwner`. */
  readonly sessionId: string
  readonly state: SessionState
  /** Returns the path as created (with the number, when sequential). Fails: NODE_EXISTS, NO_NODE (no parent), NO_CHILDREN_FOR_EPHEMERALS. */
  create(path: string, data: Buffer | null, options?: CreateOptions): Promise<string>
  /** Null when there is no such node. The watch then waits for its data to change or for it to go; none is left on a missing node. */
  get(path: string, watch?: Watcher): Promise<Node | null>
  /** Fails: NO_NODE, BAD_VERSION. Returns the stat after the set. */
  set(path: string, data: Buffer | null, condition?: Condition): Promise<Stat>
  /** Fails: NO_NODE, BAD_VERSION, NOT_EMPTY. */
  delete(path: string, condition?: Condition): Promise<void>
  /** Names of the children, sorted. Null when there is no such node. The watch waits for a child to come or go, or the node itself to go. */
  children(path: string, watch?: Watcher): Promise<readonly string[] | null>
  /** Null when there is no such node. The watch waits for creation, a change of data, or removal. */
  exists(path: string, watch?: Watcher): Promise<Stat | null>
  /** All or nothing, in order. Fails with the first operation that refuses (`StoreError.operation`). */
  multi(operations: readonly StoreOperation[]): Promise<readonly OperationResult[]>
  /** Told of every change of `state`, not of the present one. Returns a function that ends it. */
  onSession(listener: (state: SessionState) => void): () => void
  /** Ends the session: its ephemerals go before it resolves. */
  close(): Promise<void>
}

/** Null when fit, else what is wrong: absolute, no empty, `.` or `..` part, no trailing slash, none of the characters ZooKeeper refuses. */
export function pathProblem(path: string): string | null {
  if (!path.startsWith('/')) return 'a path starts with /'
  if (path === '/') return null
  if (path.endsWith('/')) return 'a path does not end with /'
  for (const part of path.slice(1).split('/')) {
    if (part === '') return 'a path has no empty part'
    if (part === '.' || part === '..') return 'a path has no relative part'
  }
  return REFUSED_CHARACTER.test(path) ? 'a path has no control, private or astral character' : null
}

/** Control characters, surrogates with all private use behind them, and specials: UTF-16 units, as Java sees them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const REFUSED_CHARACTER = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/

/** `/a/b` → `/a`; `/a` → `/`. */
export const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')))

/** `/a/b` → `b`. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** ZooKeeper's limit of one node (jute.maxbuffer less room for the request around it). */
export const MAX_NODE_BYTES = 1024 * 1024 - 1024
