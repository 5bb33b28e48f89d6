/**
 * Long work in threads of this process (`node:worker_threads`): started when a job comes, ended when none came for a while, shared by
 * all that run jobs in this process.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type PlainError, parcel, revivedError } from './crossing.js'
import { nodeDisk } from './disk-node.js'
import type { JobsOf, JobTable } from './jobs/job.js'
import { JOBS } from './jobs/table.js'
import { JobQueue, OffloadError, type Running, runHere } from './offload.js'
import { Lanes } from './offload-lanes.js'
import type { OffloadOf } from './ports.js'
import { nodeTime } from './time-node.js'

/** What a thread is told: run this. */
export interface ThreadTask {
  readonly name: string
  readonly input: unknown
  /** One int32: not 0 once the job is cancelled. */
  readonly cancelled: Int32Array
}

/** What a thread says: that it is there, then of each job how far it is, and how it ended. */
export type ThreadWord =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly done: unknown }
  | { readonly kind: 'output'; readonly output: unknown }
  | { readonly kind: 'thrown'; readonly error: PlainError }

/** What a thread is started with. */
export interface ThreadStart {
  /** A module that exports `JOBS`. */
  readonly jobsFile: string
}

export interface ThreadsOptions {
  readonly threadFile?: string
  readonly jobsFile?: string
  /** An idle thread ends after so many milliseconds; default 5000. */
  readonly idleMs?: number
}

/** No thread could be started, here and now. */
class NoThread extends Error {}

/** Threads, each with one job or idle. How many there are is up to the lanes of those who use them. */
export class Threads {
  readonly lanes = new Lanes()
  readonly #idle: Thread[] = []
  readonly #all = new Set<Thread>()
  readonly #threadFile: string
  readonly #start: ThreadStart
  readonly #idleMs: number
  #users = 0

  constructor(options: ThreadsOptions = {}) {
    this.#threadFile = options.threadFile ?? join(__dirname, 'offload-thread.js')
    this.#start = { jobsFile: options.jobsFile ?? join(__dirname, 'jobs', 'table.js') }
    this.#idleMs = options.idleMs ?? 5000
  }

  /** Threads that are alive, with a job or without. */
  get count(): number {
    return this.#all.size
  }

  /** @throws NoThread before the job was begun */
  async run(running: Running): Promise<unknown> {
    const thread = this.#idle.pop() ?? this.#newThread()
    try {
      return await thread.run(running)
    } finally {
      if (thread.isAlive) {
        this.#idle.push(thread)
        thread.whenIdleFor(this.#idleMs, () => {
          this.#forgetIdle(thread)
          void thread.end()
        })
      }
    }
  }

  #newThread(): Thread {
    const thread = new Thread(this.#threadFile, this.#start)
    this.#all.add(thread)
    void thread.gone.then(() => {
      this.#all.delete(thread)
      this.#forgetIdle(thread)
    })
    return thread
  }

  #forgetIdle(thread: Thread): void {
    const at = this.#idle.indexOf(thread)
    if (at >= 0) this.#idle.splice(at, 1)
  }

  enter(): void {
    this.#users++
  }

  /** The last one that leaves ends the threads. */
  async leave(): Promise<void> {
    this.#users--
    if (this.#users > 0) return
    this.#idle.length = 0
    await Promise.all([...this.#all].map((thread) => thread.end()))
  }
}

class Thread {
  readonly #worker: Worker
  readonly gone: Promise<void>
  #ends: { resolve(output: unknown): void; reject(error: unknown): void } | null = null
  #progress: (done: unknown) => void = () => {}
  #isReady = false
  #failure: Error | null = null
  #idle: NodeJS.Timeout | undefined
  isAlive = true

  constructor(threadFile: string, start: ThreadStart) {
    try {
      this.#worker = new Worker(threadFile, { workerData: start, name: 'mq offload' })
    } catch (error) {
      throw new NoThread((error as Error).message)
    }
    this.#worker.on('message', (word: ThreadWord) => this.#hear(word))
    this.#worker.on('error', (error) => {
      this.#failure = error
    })
    this.gone = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.isAlive = false
        clearTimeout(this.#idle)
        const why = this.#failure?.message ?? `exit code ${code}`
        this.#settle()?.reject(this.#isReady ? new OffloadError('died', `a thread died: ${why}`) : new NoThread(why))
        resolve()
      })
    })
  }

  run({ name, input, signal, progress }: Running): Promise<unknown> {
    clearTimeout(this.#idle)
    this.#worker.ref()
    const cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const cancel = () => void Atomics.store(cancelled, 0, 1)
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    this.#progress = progress
    const end = new Promise((resolve, reject) => {
      this.#ends = { resolve, reject }
    })
    const { data, transfer } = parcel(input, 'copied')
    try {
      this.#worker.postMessage({ name, input: data, cancelled } satisfies ThreadTask, transfer)
    } catch (error) {
      this.#settle()?.reject(error)
    }
    return end.finally(() => signal.removeEventListener('abort', cancel))
  }

  #hear(word: ThreadWord): void {
    this.#isReady = true
    if (word.kind === 'progress') this.#progress(word.done)
    else if (word.kind === 'output') this.#settle()?.resolve(word.output)
    else if (word.kind === 'thrown') this.#settle()?.reject(revivedError(word.error))
  }

  /** Those who wait for the job that has ended. An idle thread keeps no process alive. */
  #settle() {
    const ends = this.#ends
    this.#ends = null
    if (this.isAlive) this.#worker.unref()
    return ends
  }

  whenIdleFor(idleMs: number, act: () => void): void {
    this.#idle = setTimeout(act, idleMs)
    this.#idle.unref()
  }

  async end(): Promise<void> {
    this.#worker.ref()
    void this.#worker.terminate()
    await this.gone
  }
}

const THREADS = new Threads()

/**
 * Runs jobs in threads, on the file system of this machine. Where no thread can be started (no permission, no memory, a bundle without
 * the thread's file), a job runs on the event loop instead.
 */
export class WorkerOffload<Table extends JobTable = typeof JOBS> extends JobQueue<Table> implements OffloadOf<JobsOf<Table>> {
  readonly #threads: Threads
  #hasLeft = false

  /** @param threads default: those of this process */
  constructor(threads: Threads = THREADS, table: Table = JOBS as JobTable as Table) {
    super(table, threads.lanes)
    this.#threads = threads
    threads.enter()
  }

  protected override async execute(running: Running): Promise<unknown> {
    try {
      return await this.#threads.run(running)
    } catch (error) {
      if (!(error instanceof NoThread)) throw error
      return runHere(this.table, nodeDisk, nodeTime, running)
    }
  }

  protected override async whenClosed(): Promise<void> {
    if (this.#hasLeft) return
    this.#hasLeft = true
    await this.#threads.leave()
  }
}
