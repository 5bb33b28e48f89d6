/**
 * Appends to one log (DESIGN 4.4). Small ones are written at once, or together at the end of the turn; large ones by one
 * asynchronous write that gathers what arrives meanwhile. Nothing is visible before its bytes are in the file, and a write that
 * failed takes the directory offline: what it left in the file lies beyond the log's end.
 */
import { hold, RecordBatch, release } from '@mq/protocol'
import { type Admitted, admit, validateOptions } from './admit.js'
import { type AppendOptions, AppendQueue, NOTHING_ABORTED, PendingAppend } from './append-queue.js'
import type { LogState } from './log-state.js'
import { areLong } from './long-records.js'
import { type Appended, type Refused, refused } from './outcomes.js'
import { DiskError } from './ports.js'
import type { Duplicate } from './producer-state.js'
import type { AbortedEntry } from './txn-index.js'
import type { Validated } from './validate.js'
import { writeAll, writeAllNow } from './write-all.js'

/**
 * Up to here a write is synchronous: the copy into the page cache takes a tenth of a millisecond, and by the hand-over to a thread and
 * back a gathered append would cost a tenth more (bench:write).
 */
const SYNCHRONOUS_BYTES = 512 * 1024
/** More is not gathered into one write. */
const GATHERED_BYTES = 4 * 1024 * 1024
/** A write that took so long says that the kernel holds writers back … */
const SLOW_WRITE_MS = 20
/** … so for a while none is synchronous. */
const STAY_ASYNCHRONOUS_MS = 1000

/** One write and how far its gathering has come. */
interface Group {
  readonly now: number
  readonly appends: PendingAppend[]
  readonly slices: Buffer[]
  sizeInBytes: number
  nextOffset: number
  /** Answers that must not overtake the write. */
  readonly duplicates: (() => void)[]
}

export class LogWriter {
  readonly #queue = new AppendQueue()
  #turnIsAsked = false
  #asynchronousUntil = Number.NEGATIVE_INFINITY

  constructor(readonly state: LogState) {}

  append(records: Buffer, options: AppendOptions): Appended | Refused | Promise<Appended | Refused> {
    const { context, isClosed } = this.state
    if (context.directory.isOffline || isClosed) return context.directory.refusal()
    const queue = this.#queue
    if (context.turn === undefined && queue.isEmpty && !queue.isBusy && this.#maySynchronously(records.length)) {
      const outcome = this.#appendNow(records, options)
      if (outcome !== 'long') return outcome
    }
    if (!queue.hasRoomFor(records.length)) return refused('KAFKA_STORAGE_ERROR', 'too much waits to be written to this log')
    return new Promise((answer, fail) => {
      const isLong = options.origin === 'client' && areLong(records, this.state.config())
      const append = new PendingAppend(records, options, answer, fail)
      queue.push(append)
      // At once, not when its turn comes: two of one log may be looked at side by side.
      if (isLong) void this.#checkAside(append)
      this.#wake()
    })
  }

  /** Runs alone: after what was appended before, before what is appended later. */
  run<R>(task: () => Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ kind: 'task', run: () => task().then(resolve, reject) })
      this.#pump()
    })
  }

  #maySynchronously(sizeInBytes: number): boolean {
    return sizeInBytes <= SYNCHRONOUS_BYTES && this.state.context.clock.monotonic() >= this.#asynchronousUntil
  }

  #wake(): void {
    const { turn } = this.state.context
    if (turn === undefined) {
      this.#pump()
    } else if (!this.#turnIsAsked) {
      this.#turnIsAsked = true
      turn.afterThisTurn(() => {
        this.#turnIsAsked = false
        this.#pump()
      })
    }
  }

  #appendNow(records: Buffer, options: AppendOptions): Appended | Refused | Promise<Appended | Refused> | 'long' {
    const now = this.state.context.clock.now()
    const admitted = this.#admit(records, options, { nextOffset: this.state.logEndOffset, now })
    if (admitted === 'long') return admitted
    if (admitted.kind === 'refused') return this.#withStart(admitted)
    if (admitted.kind === 'duplicate') return this.#duplicate(admitted)
    try {
      if (this.#wouldRoll(admitted, 0, now)) this.state.rollNow(admitted)
      const aborted = this.#apply(admitted)
      this.#writeNow([admitted.bytes])
      this.#commit(admitted, aborted)
    } catch (error) {
      return this.#failed(error)
    }
    return this.#answerOf(admitted)
  }

  #admit(
    records: Buffer,
    options: AppendOptions,
    { nextOffset, now }: { readonly nextOffset: number; readonly now: number },
    checked?: Validated | Refused,
  ): Admitted | Duplicate | Refused | 'long' {
    const { config, producers } = this.state
    return admit(records, options, { config: config(), nextOffset, now, producers }, checked)
  }

  /** Has long records looked at in a thread; what waits behind them goes on when that has ended. */
  async #checkAside(append: PendingAppend): Promise<void> {
    const { config, context } = this.state
    append.aside = 'waiting'
    // It may be answered before, when the directory fails: the memory must not be another's while it is looked at.
    hold(append.records)
    const options = validateOptions(append.options, { config: config(), nextOffset: 0, now: context.clock.now() })
    try {
      const output = await context.offload.run('validate', { records: append.records, options })
      append.aside = {
        kind: 'checked',
        checked: output.kind === 'refused' ? output : { ...output, batch: batchOf(output.bytes) },
      }
    } catch (error) {
      append.aside = { kind: 'failed', error }
    }
    release(append.records)
    this.#pump()
  }

  #withStart(outcome: Refused): Refused {
    return { ...outcome, logStartOffset: this.state.logStartOffset }
  }

  /** Kafka names the largest time of the first append here, whatever the timestamp type. */
  #duplicate({ firstOffset, lastOffset, timestamp: logAppendTime }: Duplicate): Appended | Promise<Appended | Refused> {
    const { logStartOffset } = this.state
    return this.#onceDurable({ kind: 'appended', firstOffset, lastOffset, logAppendTime, logStartOffset, duplicate: true })
  }

  #wouldRoll({ bytes, maxTimestamp, lastOffset }: Admitted, gatheredBytes: number, now: number): boolean {
    const sizeInBytes = gatheredBytes + bytes.length
    return this.state.segments.active.shouldRoll({ sizeInBytes, maxTimestamp, lastOffset }, now)
  }

  /** Producers and epochs go first: if the write fails, the directory is offline and nobody asks them any more. */
  #apply({ batches, ofProducers }: Admitted): readonly AbortedEntry[] {
    const { epochs, producers } = this.state
    let changed = false
    for (const { partitionLeaderEpoch, baseOffset } of batches) {
      if (partitionLeaderEpoch >= 0 && partitionLeaderEpoch !== epochs.latest)
        changed = epochs.assign(partitionLeaderEpoch, baseOffset) || changed
    }
    if (changed) void this.state.writeEpochs()
    if (ofProducers.length === 0) return NOTHING_ABORTED
    const aborted: AbortedEntry[] = []
    for (const batch of ofProducers) {
      const entry = producers.apply(batch)
      if (entry !== null) aborted.push(entry)
    }
    return aborted
  }

  #commit(admitted: Admitted, aborted: readonly AbortedEntry[]): void {
    const { state } = this
    const { active } = state.segments
    const { bytes, batches, lastOffset, maxTimestamp } = admitted
    // A leader appends one batch at a time, and knows all of it.
    if (batches.length === 1) active.appended({ lastOffset, maxTimestamp, sizeInBytes: bytes.length })
    else for (const batch of batches) active.appended(batch)
    for (const entry of aborted) active.txns.append(entry)
    for (const batch of batches) state.tail.add(batch.baseOffset, batch.lastOffset, batches.length === 1 ? bytes : batch.slice())
    state.logEndOffset = lastOffset + 1
    state.producers.endOffset = lastOffset + 1
    state.watchers.changed()
  }

  #answerOf({ firstOffset, lastOffset, logAppendTime }: Admitted): Appended | Promise<Appended | Refused> {
    const { logStartOffset } = this.state
    return this.#onceDurable({ kind: 'appended', firstOffset, lastOffset, logAppendTime, logStartOffset, duplicate: false })
  }

  /** With `flush.messages` the answer waits for the disk, and is another if that fails. */
  #onceDurable(appended: Appended): Appended | Promise<Appended | Refused> {
    const { state } = this
    const { logEndOffset, recoveryPoint } = state
    if (appended.lastOffset < recoveryPoint || logEndOffset - recoveryPoint < state.config()['flush.messages']) return appended
    return state.flush(logEndOffset).then((durable) => (durable ? appended : state.context.directory.refusal()))
  }

  #failed(error: unknown): Refused {
    const { context, segments } = this.state
    const refusal = context.directory.failWith(error)
    try {
      segments.active.data.now().truncateNow(segments.active.sizeInBytes)
    } catch (again) {
      if (!(again instanceof DiskError)) throw again
    }
    return refusal
  }

  #writeNow(slices: readonly Buffer[]): void {
    const { clock } = this.state.context
    const { active } = this.state.segments
    const started = clock.monotonic()
    writeAllNow(active.data.now(), slices, active.sizeInBytes)
    this.#wrote(started)
  }

  #wrote(started: number): void {
    const ended = this.state.context.clock.monotonic()
    if (ended - started > SLOW_WRITE_MS) this.#asynchronousUntil = ended + STAY_ASYNCHRONOUS_MS
  }

  #pump(): void {
    const queue = this.#queue
    while (!queue.isBusy) {
      const head = queue.head
      if (head === undefined) return
      if (head.kind === 'append' && head.aside === 'waiting') return
      if (head.kind === 'task') {
        queue.shift()
        queue.isBusy = true
        void head.run().then(() => this.#resume())
        return
      }
      this.#writeGroup()
    }
  }

  #resume(): void {
    this.#queue.isBusy = false
    this.#pump()
  }

  /** Takes as many appends as fit one write into the active segment, and writes them. */
  #writeGroup(): void {
    const queue = this.#queue
    const { logEndOffset: nextOffset, context } = this.state
    const group: Group = { now: context.clock.now(), appends: [], slices: [], sizeInBytes: 0, nextOffset, duplicates: [] }
    try {
      for (let head = queue.head; head?.kind === 'append' && group.sizeInBytes < GATHERED_BYTES; head = queue.head) {
        if (this.#take(head, group) === 'later') break
        queue.shift()
      }
      if (group.sizeInBytes > 0 && !this.#maySynchronously(group.sizeInBytes)) {
        queue.isBusy = true
        void this.#writeAside(group)
        return
      }
      if (group.sizeInBytes > 0) this.#writeNow(group.slices)
      this.#commitGroup(group)
    } catch (error) {
      this.#refuseGroup(group, this.#failed(error))
    }
  }

  /** Puts it into the group, or answers it; `later` when it needs another segment than what is gathered so far, or is being checked. */
  #take(head: PendingAppend, group: Group): 'taken' | 'later' {
    const { context } = this.state
    if (context.directory.isOffline || this.state.isClosed) {
      head.answer(context.directory.refusal())
      return 'taken'
    }
    if (head.aside === 'waiting') return 'later'
    let admitted: Admitted | Duplicate | Refused | 'long'
    try {
      if (head.aside?.kind === 'failed') throw head.aside.error
      admitted = head.admitted ?? this.#admit(head.records, head.options, group, head.aside?.checked)
    } catch (error) {
      // Looking at records changes nothing: whatever is wrong with these, the log is sound.
      head.fail(error)
      return 'taken'
    }
    if (admitted === 'long') {
      void this.#checkAside(head)
      return 'later'
    }
    if (admitted.kind === 'refused') {
      head.answer(this.#withStart(admitted))
      return 'taken'
    }
    if (admitted.kind === 'duplicate') {
      const { directory } = context
      const duplicate = admitted
      group.duplicates.push(() => answerWith(head, directory.isOffline ? directory.refusal() : this.#duplicate(duplicate)))
      return 'taken'
    }
    head.admitted = admitted
    if (this.#wouldRoll(admitted, group.sizeInBytes, group.now)) {
      if (group.sizeInBytes > 0) return 'later'
      this.state.rollNow(admitted)
    }
    head.aborted = this.#apply(admitted)
    group.appends.push(head)
    group.slices.push(admitted.bytes)
    group.sizeInBytes += admitted.bytes.length
    group.nextOffset = admitted.lastOffset + 1
    return 'taken'
  }

  async #writeAside(group: Group): Promise<void> {
    const { active } = this.state.segments
    const started = this.state.context.clock.monotonic()
    try {
      await active.data.pinned((file) => writeAll(file, group.slices, active.sizeInBytes))
      this.#wrote(started)
      this.#commitGroup(group)
    } catch (error) {
      this.#refuseGroup(group, this.#failed(error))
    }
    this.#resume()
  }

  #commitGroup({ appends, duplicates }: Group): void {
    for (const { admitted, aborted } of appends) this.#commit(admitted!, aborted)
    for (const append of appends) answerWith(append, this.#answerOf(append.admitted!))
    for (const answer of duplicates) answer()
  }

  #refuseGroup({ appends, duplicates }: Group, refusal: Refused): void {
    for (const append of appends) append.answer(refusal)
    for (const answer of duplicates) answer()
  }
}

function answerWith(append: PendingAppend, outcome: Appended | Refused | Promise<Appended | Refused>): void {
  if (outcome instanceof Promise) void outcome.then((each) => append.answer(each))
  else append.answer(outcome)
}

const batchOf = ({ buffer, byteOffset, byteLength }: Uint8Array): RecordBatch =>
  new RecordBatch(Buffer.from(buffer, byteOffset, byteLength))
