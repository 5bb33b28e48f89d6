/**
 * A real ZooKeeper behind the port, for tests alone: it has none of the guards that a cluster needs (time limits, lost replies, expiry
 * while away).
 */
import { createRequire } from 'node:module'
import {
  type Condition,
  type CreateOptions,
  type MetadataStore,
  type Node,
  type OperationResult,
  pathProblem,
  type SessionState,
  type Stat,
  StoreError,
  type StoreErrorCode,
  type StoreOperation,
  type WatchEvent,
  type Watcher,
} from './store.js'

const SESSION_MS = 10_000

/** The few parts of node-zookeeper-client that are used; it has no types. */
interface ClientStat {
  readonly czxid: Buffer
  readonly mzxid: Buffer
  readonly pzxid: Buffer
  readonly ctime: Buffer
  readonly mtime: Buffer
  readonly version: number
  readonly cversion: number
  readonly ephemeralOwner: Buffer
  readonly dataLength: number
  readonly numChildren: number
}
interface ClientError extends Error {
  getCode(): number
}
type Callback<T extends unknown[]> = (error: ClientError | null, ...results: T) => void
type ClientWatcher = (event: { readonly type: number; readonly path: string }) => void
interface ClientResult {
  readonly type: number
  readonly err?: number
  readonly path?: string
  readonly stat?: ClientStat
}
interface ClientTransaction {
  readonly ops: { version?: number }[]
  create(path: string, data: Buffer | null, mode: number): ClientTransaction
  setData(path: string, data: Buffer | null): ClientTransaction
  remove(path: string): ClientTransaction
  check(path: string): ClientTransaction
  commit(callback: Callback<[ClientResult[]]>): void
}
interface Client {
  connect(): void
  close(): void
  once(event: 'connected' | 'disconnected', listener: () => void): void
  getSessionId(): Buffer
  getData(path: string, watcher: ClientWatcher | undefined, callback: Callback<[Buffer | undefined, ClientStat]>): void
  getChildren(path: string, watcher: ClientWatcher | undefined, callback: Callback<[string[], ClientStat]>): void
  exists(path: string, watcher: ClientWatcher | undefined, callback: Callback<[ClientStat | null]>): void
  transaction(): ClientTransaction
}
interface ClientPackage {
  createClient(servers: string, options: { sessionTimeout: number; retries: number }): Client
}

const NO_NODE = -101
const CODES = new Map<number, StoreErrorCode>([
  [NO_NODE, 'NO_NODE'],
  [-103, 'BAD_VERSION'],
  [-108, 'NO_CHILDREN_FOR_EPHEMERALS'],
  [-110, 'NODE_EXISTS'],
  [-111, 'NOT_EMPTY'],
  [-112, 'SESSION_EXPIRED'],
  [-4, 'CONNECTION_LOSS'],
])
/** Operations behind the one that refused. */
const ROLLED_BACK = -2
const EVENTS = new Map<number, WatchEvent['kind']>([
  [1, 'created'],
  [2, 'deleted'],
  [3, 'dataChanged'],
  [4, 'childrenChanged'],
])

const long = (bytes: Buffer) => Number(bytes.readBigInt64BE())

const statOf = (stat: ClientStat): Stat => ({
  czxid: long(stat.czxid),
  mzxid: long(stat.mzxid),
  pzxid: long(stat.pzxid),
  ctime: long(stat.ctime),
  mtime: long(stat.mtime),
  version: stat.version,
  cversion: stat.cversion,
  ephemeralOwner: long(stat.ephemeralOwner) === 0 ? null : stat.ephemeralOwner.toString('hex'),
  dataLength: stat.dataLength,
  numChildren: stat.numChildren,
})

export class ZooKeeperForTests implements MetadataStore {
  #state: SessionState = 'connected'
  readonly #listeners = new Set<(state: SessionState) => void>()

  private constructor(
    readonly client: Client,
    readonly sessionId: string,
  ) {}

  static async connect(servers: string): Promise<ZooKeeperForTests> {
    const library = createRequire(__filename)('node-zookeeper-client') as ClientPackage
    const client = library.createClient(servers, { sessionTimeout: SESSION_MS, retries: 0 })
    await new Promise<void>((done) => {
      client.once('connected', done)
      client.connect()
    })
    return new ZooKeeperForTests(client, client.getSessionId().toString('hex'))
  }

  get state(): SessionState {
    return this.#state
  }

  async create(path: string, data: Buffer | null, options: CreateOptions = {}): Promise<string> {
    const [result] = await this.multi([{ kind: 'create', path, data, ...options }])
    return result?.kind === 'create' ? result.path : path
  }

  async set(path: string, data: Buffer | null, condition: Condition = {}): Promise<Stat> {
    const [result] = await this.multi([{ kind: 'set', path, data, ...condition }])
    if (result?.kind !== 'set') throw new StoreError('NO_NODE', path)
    return result.stat
  }

  async delete(path: string, condition: Condition = {}): Promise<void> {
    await this.multi([{ kind: 'delete', path, ...condition }])
  }

  get(path: string, watch?: Watcher): Promise<Node | null> {
    return this.#ask<Node>(path, (answer) =>
      this.client.getData(path, watcherOf(watch), (error, data, stat) => {
        answer(error, () => ({ data: data ?? null, stat: statOf(stat) }))
      }),
    )
  }

  children(path: string, watch?: Watcher): Promise<readonly string[] | null> {
    return this.#ask<string[]>(path, (answer) =>
      this.client.getChildren(path, watcherOf(watch), (error, names) => answer(error, () => [...names].sort())),
    )
  }

  exists(path: string, watch?: Watcher): Promise<Stat | null> {
    return this.#ask<Stat | null>(path, (answer) =>
      this.client.exists(path, watcherOf(watch), (error, stat) => answer(error, () => (stat === null ? null : statOf(stat)))),
    )
  }

  multi(operations: readonly StoreOperation[]): Promise<readonly OperationResult[]> {
    if (this.#state !== 'connected') return Promise.reject(new StoreError('CLOSED', ''))
    const many = operations.length > 1
    const wrong = operations.findIndex(({ path }) => pathProblem(path) !== null)
    if (wrong >= 0) return Promise.reject(new StoreError('BAD_ARGUMENTS', operations[wrong]!.path, many ? wrong : undefined))
    const transaction = this.client.transaction()
    for (const operation of operations) addTo(transaction, operation)
    return new Promise((done, fail) => {
      transaction.commit((error, results) => {
        const refused = (results ?? []).findIndex(({ err }) => err !== undefined && err !== 0 && err !== ROLLED_BACK)
        if (refused >= 0) {
          const code = CODES.get(results[refused]!.err!) ?? 'CONNECTION_LOSS'
          fail(new StoreError(code, operations[refused]!.path, many ? refused : undefined, { cause: error }))
        } else if (error) fail(new StoreError(CODES.get(error.getCode()) ?? 'CONNECTION_LOSS', '', undefined, { cause: error }))
        else done(operations.map((operation, at) => resultOf(operation, results[at]!)))
      })
    })
  }

  onSession(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    if (this.#state !== 'connected') return
    this.#state = 'closed'
    await new Promise<void>((done) => {
      this.client.once('disconnected', done)
      this.client.close()
    })
    for (const listener of this.#listeners) listener('closed')
  }

  #ask<R>(path: string, send: (answer: (error: ClientError | null, result: () => R) => void) => void): Promise<R | null> {
    if (this.#state !== 'connected') return Promise.reject(new StoreError('CLOSED', path))
    if (pathProblem(path) !== null) return Promise.reject(new StoreError('BAD_ARGUMENTS', path))
    return new Promise((done, fail) => {
      send((error, result) => {
        if (error === null || error === undefined) done(result())
        else if (error.getCode() === NO_NODE) done(null)
        else fail(new StoreError(CODES.get(error.getCode()) ?? 'CONNECTION_LOSS', path, undefined, { cause: error }))
      })
    })
  }
}

function addTo(transaction: ClientTransaction, operation: StoreOperation): void {
  const { path } = operation
  if (operation.kind === 'create') {
    transaction.create(path, operation.data, (operation.ephemeral ? 1 : 0) + (operation.sequential ? 2 : 0))
    return
  }
  if (operation.kind === 'set') transaction.setData(path, operation.data)
  else if (operation.kind === 'delete') transaction.remove(path)
  else transaction.check(path)
  // The client takes version 0 for "any version": put the true one behind its back, or no fence would hold.
  transaction.ops.at(-1)!.version = operation.version ?? -1
}

function resultOf(operation: StoreOperation, result: ClientResult): OperationResult {
  if (operation.kind === 'create') return { kind: 'create', path: result.path ?? operation.path }
  if (operation.kind === 'set') return { kind: 'set', stat: statOf(result.stat!) }
  return { kind: operation.kind }
}

/** One client function per watcher, so that the client sees when the same one watches twice. */
const wrapped = new WeakMap<Watcher, ClientWatcher>()

function watcherOf(watch: Watcher | undefined): ClientWatcher | undefined {
  if (watch === undefined) return undefined
  const known = wrapped.get(watch)
  if (known !== undefined) return known
  const watcher: ClientWatcher = ({ type, path }) => {
    const kind = EVENTS.get(type)
    if (kind !== undefined) watch({ kind, path })
  }
  wrapped.set(watch, watcher)
  return watcher
}
