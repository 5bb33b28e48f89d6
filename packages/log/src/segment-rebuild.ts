/**
 * What a scan of a data file knows in the end: where the sound batches end, offset and time index, producers, leader epochs, aborted
 * transactions. Pure: it is told of one batch after another, and touches no file.
 */
import { RecordBatch } from '@mq/protocol'
import type { EpochEntry } from './leader-epochs.js'
import { OffsetIndex } from './offset-index.js'
import { producerBatch } from './producer-batch.js'
import type { ProducerStates } from './producer-state.js'
import type { StoredBatch } from './stored-batch.js'
import { TimeIndex } from './time-index.js'
import type { AbortedEntry } from './txn-index.js'

/** Which segment, and how dense its indexes are. */
export interface ScannedSegment {
  readonly baseOffset: number
  /** `index.interval.bytes` */
  readonly indexIntervalBytes: number
  /** `segment.index.bytes` */
  readonly indexMaxBytes: number
}

export interface RebuiltIndexes {
  /** Bytes of the data file that are sound batches. */
  readonly validBytes: number
  /** One after the last offset; the base offset of an empty segment. */
  readonly nextOffset: number
  /** The files' own bytes. */
  readonly offsets: Uint8Array
  readonly times: Uint8Array
  readonly maxTimestamp: number
  readonly offsetOfMaxTimestamp: number
  /** Largest time of the first batch. */
  readonly firstBatchTimestamp: number | undefined
}

/** Puts index entries where a scan finds batches: one after more than `index.interval.bytes` since the last. */
export class IndexBuilder {
  validBytes = 0
  nextOffset: number
  readonly #offsets: OffsetIndex
  readonly #times: TimeIndex
  readonly #interval: number
  #maxTimestamp = -1
  #offsetOfMaxTimestamp: number
  #firstBatchTimestamp: number | undefined
  #lastEntryAt = 0

  constructor({ baseOffset, indexIntervalBytes, indexMaxBytes }: ScannedSegment) {
    this.nextOffset = baseOffset
    this.#offsetOfMaxTimestamp = baseOffset
    this.#interval = indexIntervalBytes
    this.#offsets = new OffsetIndex(baseOffset, indexMaxBytes)
    this.#times = new TimeIndex(baseOffset, indexMaxBytes)
  }

  /** A sound batch that cannot stand here: offsets only rise and fit the segment. */
  misplaced(batch: StoredBatch): string | null {
    const first = batch.magic === 2 ? batch.baseOffset : batch.lastOffset
    if (first < this.nextOffset) return `offset ${first} where ${this.nextOffset} or more must come`
    return this.#offsets.canHold(batch.lastOffset) ? null : `offset ${batch.lastOffset} is too far from the base`
  }

  add({ lastOffset, maxTimestamp, sizeInBytes }: StoredBatch): void {
    if (this.validBytes === 0) this.#firstBatchTimestamp = maxTimestamp
    if (maxTimestamp > this.#maxTimestamp) {
      this.#maxTimestamp = maxTimestamp
      this.#offsetOfMaxTimestamp = lastOffset
    }
    if (this.validBytes - this.#lastEntryAt > this.#interval) {
      this.#offsets.append(lastOffset, this.validBytes)
      this.#times.append(this.#maxTimestamp, this.#offsetOfMaxTimestamp)
      this.#lastEntryAt = this.validBytes
    }
    this.validBytes += sizeInBytes
    this.nextOffset = lastOffset + 1
  }

  finish(): RebuiltIndexes {
    this.#times.append(this.#maxTimestamp, this.#offsetOfMaxTimestamp)
    return {
      validBytes: this.validBytes,
      nextOffset: this.nextOffset,
      offsets: this.#offsets.entryBytes(),
      times: this.#times.entryBytes(),
      maxTimestamp: this.#maxTimestamp,
      offsetOfMaxTimestamp: this.#offsetOfMaxTimestamp,
      firstBatchTimestamp: this.#firstBatchTimestamp,
    }
  }
}

/** Brings producers along, batch by batch, and notes what these batches end or begin. */
export class StateBuilder {
  readonly epochs: EpochEntry[] = []
  readonly aborted: AbortedEntry[] = []
  #latestEpoch: number

  constructor(
    readonly producers: ProducerStates,
    latestEpoch: number,
  ) {
    this.#latestEpoch = latestEpoch
  }

  add(batch: StoredBatch): void {
    if (batch.magic === 2) {
      const view = new RecordBatch(batch.bytes, batch.at)
      const epoch = view.partitionLeaderEpoch
      if (epoch > this.#latestEpoch) {
        this.epochs.push({ epoch, startOffset: batch.baseOffset })
        this.#latestEpoch = epoch
      }
      const ofProducer = producerBatch(view)
      const aborted = ofProducer === null ? null : this.producers.apply(ofProducer)
      if (aborted !== null) this.aborted.push(aborted)
    }
    this.producers.endOffset = batch.lastOffset + 1
  }
}
