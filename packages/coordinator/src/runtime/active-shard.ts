/**
 * A loaded shard at work. Each command is decided, its records are appended and then applied, and its answers wait until the high
 * watermark has passed what they speak of. The order of these steps is the whole of this file; the rules are in the Shard.
 */
import { BatchBuilder, type CodecName, type ErrorName, InvariantError } from '@mq/protocol'
import { Mailbox } from './mailbox.js'
import type { Clock, Logger, PartitionAppended, PartitionCommitted, PartitionPort, PartitionRefused, Timers } from './ports.js'
import type { Decision, RequestId, Shard, ShardTypes } from './shard.js'
import { KeyedTimers } from './timers.js'

export interface ActiveShardOptions<T extends ShardTypes> {
  readonly rules: Shard<T>
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  /** How long an answer waits for its records to be committed. */
  readonly commitTimeoutMs: number
  /** Requests that may be open at a time, parked ones among them; more are refused with COORDINATOR_NOT_AVAILABLE. */
  readonly requestLimit: number
  readonly codec: CodecName
  readonly carryOut: (effect: T['Effect']) => void
  /** It is no longer known what the log holds: the shard has to be loaded again. */
  readonly onBroken: (reason: string) => void
}

interface OpenRequest<T extends ShardTypes> {
  readonly command: T['Command']
  readonly resolve: (reply: T['Reply']) => void
}

/** Who gave a command: a request, or the timer of a key. */
type Origin = { readonly request: RequestId; readonly key: string | null }

/** Refused before anything was written: the state is as it was, so nobody else needs to be disturbed. */
const NOTHING_WRITTEN: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'NOT_ENOUGH_REPLICAS',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'REQUEST_TIMED_OUT',
])

/** A timer's command that could not be written is given again after this time. */
const RETRY_MS = 1000
/** One that met a defect, after this: it may meet it again, and offsets must not stop to expire for one bad moment. */
const DEFECT_RETRY_MS = 60_000
const FROM_TIMER: RequestId = -1

export class ActiveShard<T extends ShardTypes> {
  readonly state: T['State']
  readonly #options: ActiveShardOptions<T>
  readonly #port: PartitionPort
  readonly #mailbox: Mailbox
  readonly #timers: KeyedTimers
  readonly #open = new Map<RequestId, OpenRequest<T>>()
  /** Of answers that wait for the high watermark. */
  readonly #deadlines = new Set<() => void>()
  #nextRequest: RequestId = 1
  #closed = false

  constructor(state: T['State'], port: PartitionPort, options: ActiveShardOptions<T>) {
    this.state = state
    this.#port = port
    this.#options = options
    this.#mailbox = new Mailbox(options.requestLimit)
    this.#timers = new KeyedTimers(options.timers, options.clock)
    this.#queue(() => {
      const moment = { now: options.clock.now(), request: FROM_TIMER }
      return this.#carryOut(options.rules.loaded(state, moment), undefined, { request: FROM_TIMER, key: null })
    })
  }

  run(command: T['Command']): Promise<T['Reply']> {
    if (this.#closed) return Promise.resolve(this.#options.rules.refusal(command, 'NOT_COORDINATOR'))
    if (this.#open.size >= this.#options.requestLimit) {
      return Promise.resolve(this.#options.rules.refusal(command, 'COORDINATOR_NOT_AVAILABLE'))
    }
    const request = this.#nextRequest++
    return new Promise((resolve) => {
      this.#open.set(request, { command, resolve })
      const queued = this.#queue(() => this.#execute(command, { request, key: null }))
      // Timers fill the mailbox too.
      if (!queued) this.#refuse(request, 'COORDINATOR_NOT_AVAILABLE')
    })
  }

  /** Answers everyone who waits with `error` and stops. */
  close(error: ErrorName): void {
    this.#closed = true
    this.#mailbox.clear()
    this.#timers.cancelAll()
    for (const cancel of this.#deadlines) cancel()
    this.#deadlines.clear()
    for (const request of [...this.#open.keys()]) this.#refuse(request, error)
  }

  #queue(turn: () => void | Promise<void>): boolean {
    return this.#mailbox.add(() => {
      if (this.#closed) return
      try {
        const pending = turn()
        return pending instanceof Promise ? pending.catch((error: unknown) => this.#break(error)) : undefined
      } catch (error) {
        this.#break(error)
      }
    })
  }

  #execute(command: T['Command'], origin: Origin): void | Promise<void> {
    const { rules, clock } = this.#options
    let decision: Decision<T>
    try {
      decision = rules.decide(this.state, command, { now: clock.now(), request: origin.request })
    } catch (error) {
      return this.#onDefect(error, 'a command could not be decided', command, origin)
    }
    return this.#carryOut(decision, command, origin)
  }

  /** Nothing is changed and nothing written, so only this request is lost. */
  #onDefect(error: unknown, what: string, command: T['Command'] | undefined, origin: Origin): void {
    const { rules, logger } = this.#options
    logger.error({ shard: rules.name, partition: this.#port.partition, error }, what)
    this.#refuse(origin.request, 'UNKNOWN_SERVER_ERROR')
    // But what memory holds cannot be right any more: the log is.
    if (error instanceof InvariantError) this.#break(error)
    else if (command !== undefined && origin.key !== null) this.#arm(origin.key, DEFECT_RETRY_MS, command)
  }

  #carryOut(decision: Decision<T>, command: T['Command'] | undefined, origin: Origin): void | Promise<void> {
    if (decision.records === undefined || decision.records.length === 0) return this.#settle(decision, null, origin)
    let batch: Buffer
    try {
      batch = this.#batchOf(decision.records)
    } catch (error) {
      // What clients say ends up in records, and may have no room there: a member id longer than a string of the format, say.
      this.#onDefect(error, 'records could not be encoded', command, origin)
      if (decision.ifRefused && !this.#closed) {
        return this.#execute(decision.ifRefused('UNKNOWN_SERVER_ERROR'), { request: FROM_TIMER, key: null })
      }
      return
    }
    const appended = this.#port.append(batch)
    if (appended instanceof Promise) return appended.then((result) => this.#onAppend(decision, result, command, origin))
    return this.#onAppend(decision, appended, command, origin)
  }

  #batchOf(records: readonly T['LogRecord'][]): Buffer {
    const builder = new BatchBuilder({ codec: this.#options.codec })
    const timestamp = this.#options.clock.now()
    for (const record of records) builder.tryAppend({ timestamp, ...this.#options.rules.encode(record) })
    return builder.build()
  }

  #onAppend(
    decision: Decision<T>,
    result: PartitionAppended | PartitionRefused,
    command: T['Command'] | undefined,
    origin: Origin,
  ): void | Promise<void> {
    if (this.#closed) return
    if (result.kind === 'appended') return this.#settle(decision, result, origin)
    const error = result.error as ErrorName
    this.#options.logger.warn(
      { shard: this.#options.rules.name, partition: this.#port.partition, error, reason: result.message },
      'records of the coordinator were refused',
    )
    this.#refuse(origin.request, error)
    if (!NOTHING_WRITTEN.has(error)) return this.#break(new Error(`append refused with ${error}`))
    if (decision.ifRefused) return this.#execute(decision.ifRefused(error), { request: FROM_TIMER, key: null })
    if (command !== undefined && origin.key !== null) this.#arm(origin.key, RETRY_MS, command)
  }

  /** What was decided holds from here on. */
  #settle(decision: Decision<T>, appended: PartitionAppended | null, origin: Origin): void | Promise<void> {
    const { rules, logger } = this.#options
    for (const change of decision.changes ?? []) rules.remember(this.state, change)
    if (appended) {
      const highWatermark = this.#port.highWatermark
      decision.records!.forEach((record, i) => {
        const offset = appended.firstOffset + i
        rules.apply(this.state, record, { offset, committed: offset < highWatermark, transactionOf: null })
      })
    }
    for (const change of decision.timers ?? []) {
      if (change.kind === 'cancel') this.#timers.cancel(change.key)
      else this.#arm(change.key, change.afterMs, change.command)
    }
    for (const note of decision.notes ?? []) {
      logger[note.level]({ partition: this.#port.partition, ...note.fields }, note.message)
    }
    const upTo = Math.max(appended?.lastOffset ?? -1, decision.shows ?? -1)
    if (upTo < this.#port.highWatermark) this.#conclude(decision)
    else {
      if (decision.answerWhen === 'written') this.#answerAll(decision)
      this.#concludeOnceCommitted(decision, upTo)
    }
    if (decision.next !== undefined) return this.#execute(decision.next, origin)
  }

  #answerAll(decision: Decision<T>): void {
    for (const [request, reply] of decision.replies ?? []) this.#answer(request, reply)
  }

  #conclude(decision: Decision<T>): void {
    this.#answerAll(decision)
    for (const effect of decision.effects ?? []) this.#options.carryOut(effect)
  }

  #concludeOnceCommitted(decision: Decision<T>, offset: number): void {
    const cancel = this.#options.timers.after(this.#options.commitTimeoutMs, () => {
      for (const [request] of decision.replies ?? []) this.#refuse(request, 'REQUEST_TIMED_OUT')
    })
    this.#deadlines.add(cancel)
    const conclude = (outcome: PartitionCommitted | PartitionRefused) => {
      cancel()
      this.#deadlines.delete(cancel)
      if (this.#closed) return
      if (outcome.kind === 'refused') {
        for (const [request] of decision.replies ?? []) this.#refuse(request, outcome.error as ErrorName)
        return
      }
      this.#options.rules.committed(this.state, this.#port.highWatermark)
      this.#conclude(decision)
    }
    const outcome = this.#port.whenCommitted(offset)
    if (outcome instanceof Promise) outcome.then(conclude).catch((error: unknown) => this.#break(error))
    else conclude(outcome)
  }

  #arm(key: string, afterMs: number, command: T['Command']): void {
    this.#timers.set(key, afterMs, (isDue) => {
      const queued = this.#queue(() => (isDue() ? this.#execute(command, { request: FROM_TIMER, key }) : undefined))
      if (!queued && !this.#closed) this.#arm(key, RETRY_MS, command)
    })
  }

  #answer(request: RequestId, reply: T['Reply']): void {
    const open = this.#open.get(request)
    if (!open) return
    this.#open.delete(request)
    open.resolve(reply)
  }

  #refuse(request: RequestId, error: ErrorName): void {
    const open = this.#open.get(request)
    if (open) this.#answer(request, this.#options.rules.refusal(open.command, error))
  }

  #break(error: unknown): void {
    if (this.#closed) return
    this.#options.onBroken(error instanceof Error ? error.message : String(error))
  }
}
