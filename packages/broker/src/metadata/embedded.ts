/**
 * The metadata store inside the broker: a tree in memory, a journal on disk (or none), sessions and watches of one process. Several brokers
 * of one process can share it, each by its own session.
 *
 * A call takes effect in memory at once, in the order of calls; its answer, the watches it sets off and all later answers wait until it is
 * durable. Writes that arrive while the disk syncs share the next sync. When the disk fails, every waiting and later call fails with
 * STORAGE_FAILED and the memory is not to be trusted: the broker closes.
 */
import type { Clock, Disk } from '@mq/log'
import { Journal } from './journal.js'
import {
  type Condition,
  type CreateOptions,
  isStoreError,
  type MetadataStore,
  type Node,
  type OperationResult,
  pathProblem,
  type SessionState,
  type Stat,
  StoreError,
  type StoreOperation,
  type Watcher,
} from './store.js'
import { type Change, type Transaction, Tree } from './tree.js'
import { Watches } from './watches.js'

export interface EmbeddedOptions {
  readonly disk: Disk
  /** Holds `mq-metadata.journal` and `mq-metadata.snapshot`; the caller has it locked. */
  readonly directory: string
  readonly clock: Pick<Clock, 'now'>
  /** A snapshot replaces the journal when it has more bytes than this and than twice the last snapshot. Default 1 MiB. */
  readonly snapshotBytes?: number
  /** Told once when the disk failed. */
  readonly onFailed?: (error: unknown) => void
}

/** An answer that waits for the disk. */
interface Waiting {
  readonly zxid: number
  release(): void
  fail(error: StoreError): void
}

export class EmbeddedStore {
  readonly #tree: Tree
  readonly #journal: Journal | null
  readonly #clock: Pick<Clock, 'now'>
  readonly #snapshotBytes: number
  readonly #onFailed: (error: unknown) => void
  readonly #watches = new Watches()
  readonly #sessions = new Map<string, EmbeddedSession>()
  #waiting: Waiting[] = []
  #unwritten: Transaction[] = []
  #durableZxid: number
  #isFlushing = false
  #flushed: Promise<void> = Promise.resolve()
  #failure: StoreError | null = null
  #closed = false

  /** Whether the files were there. A new store is empty: only the caller can know whether the cluster is. */
  readonly origin: 'found' | 'new'
  /** Bytes of an unfinished write cut from the journal's end at the start. */
  readonly cutBytes: number

  private constructor(
    found: { tree: Tree; journal: Journal | null; origin: 'found' | 'new'; cutBytes: number },
    options: Omit<EmbeddedOptions, 'disk' | 'directory'>,
  ) {
    this.#tree = found.tree
    this.#journal = found.journal
    this.origin = found.origin
    this.cutBytes = found.cutBytes
    this.#durableZxid = found.tree.zxid
    this.#clock = options.clock
    this.#snapshotBytes = options.snapshotBytes ?? 1024 * 1024
    this.#onFailed = options.onFailed ?? (() => {})
  }

  /** Reads the directory's files, or begins them. Sessions of the process before are over: their ephemerals go. Throws MetadataDamageError. */
  static async open(options: EmbeddedOptions): Promise<EmbeddedStore> {
    const store = new EmbeddedStore(await Journal.open(options.disk, options.directory), options)
    await store.#endSessions(store.#tree.owners())
    return store
  }

  /** Keeps nothing on disk. */
  static inMemory(clock: Pick<Clock, 'now'>): EmbeddedStore {
    return new EmbeddedStore({ tree: new Tree(), journal: null, origin: 'new', cutBytes: 0 }, { clock })
  }

  /** A new session. Sessions end by their `close`, by `expire` or with the store. */
  connect(): MetadataStore {
    if (this.#closed) throw new StoreError('CLOSED', '')
    let number = this.#tree.zxid + 1
    let id = sessionName(number)
    while (this.#sessions.has(id) || this.#tree.owners().includes(id)) id = sessionName(++number)
    const session = new EmbeddedSession(id, {
      write: (operations) => this.#write(operations, id),
      read: (path, look) => this.#read(path, look),
      watch: (kind, path, watcher) => this.#watches.add(kind, path, watcher, id),
      end: () => this.#end(id),
    })
    this.#sessions.set(id, session)
    return session
  }

  /** As when a client was not heard of for its session time: ephemerals go, the session is told. */
  async expire(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId)
    if (session === undefined) return
    session.finish('expired')
    await this.#end(sessionId)
  }

  /** Ends all sessions, waits for the disk, closes the files. */
  async close(): Promise<void> {
    if (this.#closed) return
    const open = [...this.#sessions.keys()]
    for (const id of open) this.#sessions.get(id)?.finish('closed')
    this.#sessions.clear()
    for (const id of open) this.#watches.forget(id)
    this.#closed = true
    try {
      await this.#endSessions(open)
      await this.#settled()
    } catch (error) {
      if (!isStoreError(error, 'STORAGE_FAILED')) throw error // said already, by onFailed
    } finally {
      this.#journal?.close()
    }
  }

  async #end(sessionId: string): Promise<void> {
    this.#sessions.delete(sessionId)
    this.#watches.forget(sessionId)
    await this.#endSessions([sessionId])
  }

  async #endSessions(sessionIds: readonly string[]): Promise<void> {
    const changes = this.#tree.decideEnd(sessionIds)
    if (changes.length > 0) await this.#commit(changes, () => {})
  }

  #write(operations: readonly StoreOperation[], session: string): Promise<OperationResult[]> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    let changes: Change[]
    try {
      changes = this.#tree.decide(operations, session)
    } catch (error) {
      // A refusal, too, may rest on a change that is not durable yet.
      return this.#afterAllBefore().then(() => Promise.reject(error))
    }
    if (changes.length === 0) return this.#afterAllBefore().then(() => operations.map(() => ({ kind: 'check' as const })))
    return this.#commit(changes, (results) => {
      let next = 0
      return operations.map(({ kind }) => (kind === 'check' ? { kind } : results[next++]!))
    })
  }

  #commit<R>(changes: readonly Change[], answer: (results: OperationResult[]) => R): Promise<R> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    const transaction = { zxid: this.#tree.zxid + 1, time: this.#clock.now(), changes }
    const results = this.#tree.apply(transaction)
    const calls = this.#watches.trigger(changes)
    if (this.#journal !== null) this.#unwritten.push(transaction)
    const done = this.#wait(transaction.zxid, () => {
      for (const call of calls) call()
      return answer(results)
    })
    this.#flush()
    return done
  }

  #read<R>(path: string, look: (tree: Tree) => R): Promise<R> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    if (pathProblem(path) !== null) return Promise.reject(new StoreError('BAD_ARGUMENTS', path))
    const seen = look(this.#tree)
    return this.#afterAllBefore().then(() => seen)
  }

  #afterAllBefore(): Promise<void> {
    if (this.#durableZxid >= this.#tree.zxid) return Promise.resolve()
    return this.#wait(this.#tree.zxid, () => {})
  }

  #wait<R>(zxid: number, answer: () => R): Promise<R> {
    return new Promise((resolve, reject) => {
      const release = () => {
        try {
          resolve(answer())
        } catch (error) {
          reject(error) // a watcher threw: whoever wrote hears of it, the other answers go out
        }
      }
      this.#waiting.push({ zxid, release, fail: reject })
    })
  }

  #flush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    this.#flushed = this.#flushAll()
  }

  async #flushAll(): Promise<void> {
    try {
      await null // what this turn still brings shares the write
      while (this.#durableZxid < this.#tree.zxid) {
        const zxid = this.#tree.zxid
        const group = this.#unwritten
        this.#unwritten = []
        if (this.#journal !== null) await this.#makeDurable(this.#journal, group)
        this.#durableZxid = zxid
        const released = this.#waiting.filter((waiting) => waiting.zxid <= zxid)
        this.#waiting = this.#waiting.filter((waiting) => waiting.zxid > zxid)
        for (const waiting of released) waiting.release()
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isFlushing = false
    }
  }

  async #makeDurable(journal: Journal, group: readonly Transaction[]): Promise<void> {
    const limit = Math.max(this.#snapshotBytes, journal.snapshotSizeInBytes * 2)
    if (journal.sizeInBytes > limit)
      await journal.snapshot(this.#tree) // has the group already
    else await journal.append(group)
  }

  #fail(error: unknown): void {
    this.#failure = new StoreError('STORAGE_FAILED', '', undefined, { cause: error })
    const waiting = this.#waiting
    this.#waiting = []
    this.#unwritten = []
    for (const each of waiting) each.fail(this.#failure)
    this.#onFailed(error)
  }

  async #settled(): Promise<void> {
    while (this.#isFlushing) await this.#flushed
  }
}

const sessionName = (number: number): string => number.toString(16).padStart(16, '0')

interface Doors {
  write(operations: readonly StoreOperation[]): Promise<OperationResult[]>
  read<R>(path: string, look: (tree: Tree) => R): Promise<R>
  watch(kind: 'data' | 'children', path: string, watcher: Watcher): void
  end(): Promise<void>
}

/** One session's face. */
class EmbeddedSession implements MetadataStore {
  #state: SessionState = 'connected'
  readonly #listeners = new Set<(state: SessionState) => void>()

  constructor(
    readonly sessionId: string,
    readonly doors: Doors,
  ) {}

  get state(): SessionState {
    return this.#state
  }

  async create(path: string, data: Buffer | null, options: CreateOptions = {}): Promise<string> {
    const [result] = await this.multi([{ kind: 'create', path, data, ...options }])
    return result?.kind === 'create' ? result.path : path
  }

  get(path: string, watch?: Watcher): Promise<Node | null> {
    return this.#look(path, (tree) => {
      const stat = tree.stat(path)
      if (stat === null) return null
      if (watch !== undefined) this.doors.watch('data', path, watch)
      return { data: tree.node(path)!.data, stat }
    })
  }

  async set(path: string, data: Buffer | null, condition: Condition = {}): Promise<Stat> {
    const [result] = await this.multi([{ kind: 'set', path, data, ...condition }])
    if (result?.kind !== 'set') throw new StoreError('NO_NODE', path)
    return result.stat
  }

  async delete(path: string, condition: Condition = {}): Promise<void> {
    await this.multi([{ kind: 'delete', path, ...condition }])
  }

  children(path: string, watch?: Watcher): Promise<readonly string[] | null> {
    return this.#look(path, (tree) => {
      const node = tree.node(path)
      if (node === undefined) return null
      if (watch !== undefined) this.doors.watch('children', path, watch)
      return [...node.children].sort()
    })
  }

  exists(path: string, watch?: Watcher): Promise<Stat | null> {
    return this.#look(path, (tree) => {
      if (watch !== undefined) this.doors.watch('data', path, watch)
      return tree.stat(path)
    })
  }

  multi(operations: readonly StoreOperation[]): Promise<readonly OperationResult[]> {
    return this.#closedError() ?? this.doors.write(operations)
  }

  onSession(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    if (this.#state !== 'connected') return
    this.finish('closed')
    await this.doors.end()
  }

  finish(state: 'closed' | 'expired'): void {
    if (this.#state !== 'connected') return
    this.#state = state
    for (const listener of [...this.#listeners]) listener(state)
    this.#listeners.clear()
  }

  #look<R>(path: string, look: (tree: Tree) => R): Promise<R> {
    return this.#closedError() ?? this.doors.read(path, look)
  }

  #closedError(): Promise<never> | null {
    if (this.#state === 'connected') return null
    return Promise.reject(new StoreError(this.#state === 'expired' ? 'SESSION_EXPIRED' : 'CLOSED', ''))
  }
}
