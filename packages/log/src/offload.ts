/**
 * Long work beside the event loop: the order of jobs, their cancellation and their end. Where they run is up to the two that stand
 * on this: `InlineOffload` here, `WorkerOffload` in offload-node.ts.
 */
import type { JobsOf, JobTable } from './jobs/job.js'
import { JOBS } from './jobs/table.js'
import { Lanes } from './offload-lanes.js'
import type { Disk, OffloadOf, RunOptions, Time } from './ports.js'

/** The job was not done: what should have run it is closed, or its thread died. */
export class OffloadError extends Error {
  override readonly name = 'OffloadError'
  constructor(
    readonly reason: 'closed' | 'died',
    detail: string,
  ) {
    super(detail)
  }
}

/** One job under way. `signal` is aborted when nobody waits for the result any more. */
export interface Running {
  readonly name: string
  readonly input: unknown
  readonly signal: AbortSignal
  readonly progress: (done: unknown) => void
}

export abstract class JobQueue<Table extends JobTable> implements OffloadOf<JobsOf<Table>> {
  readonly #lanes: Lanes
  readonly #stops = new Set<AbortController>()
  readonly #ends = new Set<Promise<unknown>>()
  #isClosed = false

  constructor(
    protected readonly table: Table,
    lanes: Lanes,
  ) {
    this.#lanes = lanes
  }

  protected abstract execute(running: Running): Promise<unknown>
  protected abstract whenClosed(): Promise<void>

  run<Name extends keyof JobsOf<Table> & string>(
    name: Name,
    input: JobsOf<Table>[Name]['input'],
    options: RunOptions<JobsOf<Table>[Name]['progress']> = {},
  ): Promise<JobsOf<Table>[Name]['output']> {
    const stop = new AbortController()
    if (this.#isClosed) stop.abort(new OffloadError('closed', `${name}: there is nobody to do it any more`))
    const { signal, progress } = options
    const abort = () => stop.abort(signal?.reason)
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort)
    const running: Running = {
      name,
      input,
      signal: stop.signal,
      progress: (done) => {
        if (!stop.signal.aborted) progress?.(done as JobsOf<Table>[Name]['progress'])
      },
    }
    this.#stops.add(stop)
    const end = this.#lanes
      .run(this.table[name]!.lane, stop.signal, () => this.#execute(running))
      .finally(() => {
        this.#stops.delete(stop)
        this.#ends.delete(end)
        signal?.removeEventListener('abort', abort)
      })
    this.#ends.add(end)
    return end as Promise<JobsOf<Table>[Name]['output']>
  }

  /** A cancelled job is let end, so that its files are closed; then it was cancelled, whatever it says. */
  async #execute(running: Running): Promise<unknown> {
    try {
      const output = await this.execute(running)
      running.signal.throwIfAborted()
      return output
    } catch (error) {
      running.signal.throwIfAborted()
      throw error
    }
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true
      for (const stop of this.#stops) stop.abort(new OffloadError('closed', 'closed before the job was done'))
    }
    await Promise.allSettled(this.#ends)
    await this.whenClosed()
  }
}

/** Runs one job where we are. */
export async function runHere(
  table: JobTable,
  disk: Disk,
  { clock, timers, turn }: Time,
  { name, input, signal, progress }: Running,
): Promise<unknown> {
  return table[name]!.run(input as never, { disk, clock, timers, turn, isCancelled: () => signal.aborted, progress })
}

/** For jobs that ask for no time: it stands still, and nobody waits. */
const TIMELESS: Time = {
  clock: { now: () => 0, monotonic: () => 0 },
  timers: {
    after(_delayMs, fire) {
      fire()
      return () => {}
    },
  },
}

/** Runs jobs on the event loop, on the given disk: for a disk in memory, the simulator and tests. */
export class InlineOffload<Table extends JobTable = typeof JOBS> extends JobQueue<Table> implements OffloadOf<JobsOf<Table>> {
  constructor(
    readonly disk: Disk,
    readonly time: Time = TIMELESS,
    table: Table = JOBS as JobTable as Table,
  ) {
    super(table, new Lanes())
  }

  protected override execute(running: Running): Promise<unknown> {
    return runHere(this.table, this.disk, this.time, running)
  }

  protected override async whenClosed(): Promise<void> {}
}
