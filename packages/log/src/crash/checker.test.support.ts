/** Opens what a stop of the machine left and holds it against the model: records, states, indexes, and that nothing came back. */
import assert from 'node:assert/strict'
import { iterateBatches, type RecordBatch } from '@mq/protocol'
import type { PartitionLog } from '../log.js'
import type { BrokerLogDirectories } from '../log-directories.js'
import { continueFromCleaned, historyOf } from './cleaned.test.support.js'
import type { AbortedFacts, History, ProducerFacts, Replay } from './history.test.support.js'
import type { Cut, Reached } from './machine.test.support.js'
import { isCompacted, type Model, type PartitionModel } from './model.test.support.js'

/** Every partition is what was promised; the model goes on from what was found. */
export async function checkAll(directories: BrokerLogDirectories, model: Model, cut: Cut, reached: Reached): Promise<void> {
  for (const log of directories.all()) {
    const { topic, partition } = log.topicPartition
    assert.ok(model.partitions.has(`${topic}-${partition}`), `${topic}-${partition} is back`)
  }
  for (const [name, partition] of [...model.partitions]) {
    const log = directories.get({ topic: partition.kind.topic, partition: partition.partition })
    const { underWay } = partition
    if (log === undefined) {
      assert.ok(underWay?.kind === 'create' || underWay?.kind === 'delete', `${name} is gone`)
      reached.note(`not there: ${underWay.kind} under way`)
      model.partitions.delete(name)
      continue
    }
    try {
      await checkOne(log, partition, cut, reached)
      if (directories.wasCleanShutdown(log.directory)) checkRemembered(log, partition)
      partition.producersWhenClean = []
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
    }
  }
}

async function checkOne(log: PartitionLog, model: PartitionModel, cut: Cut, reached: Reached): Promise<void> {
  const { underWay } = model
  if (underWay !== null) reached.note(`stopped in: ${underWay.kind}`)
  if (log.cut !== null) reached.note(`recovery: ${log.cut.problem.replace(/\d+/g, 'N')}`)
  if (underWay?.kind !== 'create') assert.equal(log.topicId, model.topicId)
  else if (log.topicId !== model.topicId) assert.equal(log.topicId, null)
  const isEmpty = log.logStartOffset === log.logEndOffset
  // Whoever had to do away with all records may be stopped when the old ones are gone and nothing is said of the new start.
  const isEmptied = underWay?.kind === 'startOver' && isEmpty
  if (isEmptied) model.durableStart = model.start = model.durableEnd = log.logEndOffset
  const history = model.longest
  // Without the records behind it, a log begins and ends where the checkpoint says that it begins.
  if (isEmptied || ((isEmpty || isBehindCleaned(log, model)) && log.logEndOffset <= history.end))
    history.emptyAt(log.logEndOffset)
  checkEnds(log, model, model.longest.end, cut, isEmptied)
  history.cutTo(log.logEndOffset)
  assert.equal(log.logEndOffset, history.end, 'the log ends with a batch')
  // What lies before the log's start cannot be seen.
  const losesFrom = Math.max(model.durableEnd, log.logStartOffset)
  if (cut === 'power' && isCompacted(model) && history.lose(losesFrom, await historyOf(log)))
    reached.note('a hole in a compacted log')
  if (model.isBeingCleaned) reached.note('stopped in: clean')
  // When the log's start is back where it was, nobody has seen yet what compaction left there.
  if (model.isBeingCleaned || (isCompacted(model) && log.logStartOffset < model.start)) {
    model.history = history
    await continueFromCleaned(log, model)
  }
  log.updateHighWatermark(log.logEndOffset)
  await checkRecords(log, history)
  checkProducers(log, model, history)
  checkEpochs(log, model, history)
  model.topicId = log.topicId
  model.durableEpoch = Math.min(model.durableEpoch, log.latestLeaderEpoch)
  model.continueFrom({ start: log.logStartOffset, end: log.logEndOffset, history })
}

/** Where compaction took the records before it, a log may end where its last segment begins. */
const isBehindCleaned = (log: PartitionLog, model: PartitionModel): boolean =>
  isCompacted(model) && log.segmentViews().at(-1)!.baseOffset === log.logEndOffset

function checkEnds(log: PartitionLog, model: PartitionModel, written: number, cut: Cut, isEmptied: boolean): void {
  const { underWay, durableEnd, durableStart } = model
  assert.ok(log.logEndOffset >= durableEnd, `ends at ${log.logEndOffset}, promised ${durableEnd}`)
  assert.ok(isEmptied || log.logEndOffset <= written, `ends at ${log.logEndOffset}, only ${written} were written`)
  if (cut === 'process' && !isEmptied) {
    const least = underWay?.kind === 'truncate' ? Math.min(model.end, underWay.to) : model.end
    assert.ok(log.logEndOffset >= least, `ends at ${log.logEndOffset}, answered ${least}`)
  }
  assert.ok(log.logStartOffset >= durableStart, `starts at ${log.logStartOffset}, promised ${durableStart}`)
  const mayMove = underWay?.kind === 'retention' || underWay?.kind === 'startOver'
  const highest = mayMove ? written : model.start
  assert.ok(isEmptied || log.logStartOffset <= highest, `starts at ${log.logStartOffset}, was at ${highest}`)
  assert.ok(log.highWatermark >= Math.min(model.durableHighWatermark, log.logEndOffset), `high watermark ${log.highWatermark}`)
}

/** Each batch alone, so that each is found by the index: byte for byte what was written. Then by time. */
async function checkRecords(log: PartitionLog, history: History): Promise<void> {
  let offset = log.logStartOffset
  for (const expected of history.batches.slice(history.indexAt(offset))) {
    const found = await firstBatch(log, offset)
    assert.ok(found !== null, `nothing at ${offset} of ${log.logEndOffset}`)
    if (found.baseOffset !== expected.baseOffset)
      assert.fail(`at ${offset} there is the batch of ${found.baseOffset}, not that of ${expected.baseOffset}`)
    assert.ok(found.slice().equals(expected.bytes), `other bytes at ${offset}`)
    offset = expected.lastOffset + 1
  }
  const times = history.batches.slice(history.indexAt(log.logStartOffset)).flatMap(({ records }) => records)
  for (const at of [0, times.length >> 2, times.length >> 1, times.length - 1]) {
    const timestamp = (times[at]?.timestamp ?? 0) + (at & 1)
    const found = await log.offsetForTimestamp(timestamp)
    assert.ok(found === null || 'offset' in found)
    const expected = history.firstAt(timestamp, log.logStartOffset)
    assert.equal(found?.offset, expected?.offset, `the first at ${timestamp}`)
    if (found !== null) assert.equal(found.timestamp, expected?.timestamp)
  }
}

async function firstBatch(log: PartitionLog, offset: number): Promise<RecordBatch | null> {
  const read = await log.read(offset, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' })
  if (read.kind === 'refused') assert.fail(`${read.error}: ${read.message}`)
  for (const batch of iterateBatches(Buffer.concat(read.slices))) {
    assert.ok(batch.crcIsValid(), `bad checksum at ${batch.baseOffset}`)
    return batch
  }
  return null
}

/**
 * Producers are known by all that was ever written (their snapshots go along), or by what the log still has, from its start or from
 * that of a scanned segment on. Last stable offset and aborted transactions follow.
 */
function checkProducers(log: PartitionLog, model: PartitionModel, history: History): void {
  const start = log.logStartOffset
  const scanned = log.segmentViews().map(({ baseOffset }) => baseOffset)
  model.producersKnownFrom = [...new Set([...model.producersKnownFrom, ...scanned.filter((base) => base <= start), 0, start])]
  const replays = model.producersKnownFrom.map((from) => history.replay(from))
  if (isCompacted(model)) replays.push(...model.producersKnownFrom.map((from) => history.replayWritten(from)))
  // A truncation goes back to a snapshot, which may know of what compaction took away since.
  const fromSnapshots = () =>
    model.producersKnownFrom.flatMap((from) => history.written.map(({ baseOffset }) => history.replayWritten(from, baseOffset)))
  const left = history.replay(start)
  const views = log.producers()
  const known = new Set(views.map(({ producerId }) => producerId))
  const kept = history.replay(Math.max(start, model.start, model.statesKnownFrom))
  for (const { producerId } of kept.producers.values()) assert.ok(known.has(producerId), `producer ${producerId} is forgotten`)
  let stable = log.highWatermark
  for (const view of views) {
    const found = {
      producerEpoch: view.producerEpoch,
      lastSequence: view.lastSequence,
      coordinatorEpoch: view.coordinatorEpoch,
      firstOffset: view.currentTransactionFirstOffset,
    }
    const text = JSON.stringify(found)
    const isPossible = ({ producers }: Replay) => factsText(producers.get(view.producerId)) === text
    assert.ok(
      replays.some(isPossible) || fromSnapshots().some(isPossible),
      `producer ${view.producerId} is ${text}, should be ${factsText(replays[0]!.producers.get(view.producerId))}`,
    )
    if (found.firstOffset >= 0) stable = Math.min(stable, Math.max(start, found.firstOffset))
  }
  assert.equal(log.lastStableOffset, stable, 'last stable offset')
  checkAborted(
    log,
    left.aborted,
    replays.flatMap(({ aborted }) => aborted),
  )
}

function factsText(facts: ProducerFacts | undefined): string {
  if (facts === undefined) return 'unknown'
  const { producerEpoch, lastSequence, coordinatorEpoch, firstOffset } = facts
  return JSON.stringify({ producerEpoch, lastSequence, coordinatorEpoch, firstOffset })
}

/** Those that the log has whole are named, and no others than ever were; their first offset may be that of a part. */
function checkAborted(log: PartitionLog, whole: readonly AbortedFacts[], known: readonly AbortedFacts[]): void {
  const named = log.abortedTransactions(log.logStartOffset, log.logEndOffset)
  const isNamed = (one: AbortedFacts) =>
    named.some(({ producerId, firstOffset }) => producerId === one.producerId && firstOffset === one.firstOffset)
  for (const { producerId, lastOffset } of whole) {
    const same = known.filter((one) => one.producerId === producerId && one.lastOffset === lastOffset)
    assert.ok(same.some(isNamed), `aborted ${same[0]!.firstOffset} to ${lastOffset} of ${producerId} is not named`)
  }
  for (const { producerId, firstOffset } of named) {
    const isTrue = known.some((one) => one.producerId === producerId && one.firstOffset === firstOffset)
    assert.ok(isTrue, `${firstOffset} of ${producerId} is named as aborted`)
  }
}

function checkEpochs(log: PartitionLog, model: PartitionModel, history: History): void {
  for (const [epoch, { from, to }] of history.epochEnds(Math.max(log.logStartOffset, model.start, model.statesKnownFrom))) {
    const found = log.endOffsetForEpoch(epoch)
    const isRight = found?.epoch === epoch && found.endOffset >= from && found.endOffset <= to
    assert.ok(isRight, `epoch ${epoch} ends ${JSON.stringify(found)}, should be ${from} to ${to}`)
  }
  const highest = Math.max(log.highestEpochFound, log.latestLeaderEpoch)
  assert.ok(highest >= model.durableEpoch, `highest epoch ${highest}, promised ${model.durableEpoch}`)
}

/** A clean stop leaves a snapshot of all of them. */
function checkRemembered(log: PartitionLog, { producersWhenClean }: PartitionModel): void {
  const known = new Set(log.producers().map(({ producerId }) => producerId))
  for (const producerId of producersWhenClean)
    assert.ok(known.has(producerId), `producer ${producerId} is forgotten after a clean stop`)
}
