/** A producer: idempotent with several batches in flight, plain with one and perhaps a second try, or one that asks for no answer. */
import type { Client } from './client.js'
import type { PartitionHistory } from './history.js'
import { type Link, LinkLost } from './link.js'
import { batchOf, textOf } from './records.js'
import { NotNow, nameOfError } from './requests.js'

export interface ProducerSpec {
  readonly kind: 'idempotent' | 'plain' | 'silent'
  readonly acks: 0 | 1 | -1
  readonly topic: string
  readonly histories: readonly PartitionHistory[]
  readonly pauseMs: number
  /** Of one value. */
  readonly mostBytes: number
  /** Whether a loss since the producer got its id may have taken its state. */
  readonly losses: () => number
}

interface Batch {
  readonly partition: number
  readonly names: readonly string[]
  readonly bytes: Buffer
  attempts: number
  sentOn: Link | undefined
  answer: Promise<Answer> | undefined
  /** It is acknowledged: not to be sent again. */
  isDone: boolean
}

interface Answer {
  readonly error: string
  readonly baseOffset: number
}

/** So many batches of one idempotent producer may be under way: the broker remembers five per partition. */
const DEPTH = 5

/** Nothing was appended, and the same may be tried again. */
const PASSING = new Set(['NOT_LEADER_OR_FOLLOWER', 'UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_ENOUGH_REPLICAS'])
/** It may have been appended all the same. */
const DOUBTFUL = new Set(['KAFKA_STORAGE_ERROR', 'REQUEST_TIMED_OUT', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'UNKNOWN_SERVER_ERROR'])
const STATE_IS_GONE = new Set(['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID'])

export class Producer {
  readonly #batches: Batch[] = []
  #identity: { id: number; epoch: number; losses: number } | undefined
  readonly #sequences = new Map<number, number>()
  #made = 0
  /** Of one partition, since the producer has its id. */
  #mostUnderWay = 0

  readonly #depth: number

  constructor(
    readonly client: Client,
    readonly spec: ProducerSpec,
  ) {
    this.#depth = spec.kind === 'idempotent' ? client.chance.one([1, 1, 2, DEPTH]) : 1
  }

  /** Ends when it is over and what it sent is answered, or `isHopeless`. */
  async run(isOver: () => boolean, isHopeless: () => boolean): Promise<void> {
    const { client } = this
    while (!isOver() || this.#batches.length > 0) {
      if (isHopeless()) return
      try {
        await this.#turn(isOver())
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        if (!(error instanceof NotNow)) client.hangUp()
        for (const batch of this.#batches) if (!batch.isDone) batch.answer = undefined
        this.#giveUp()
        await client.sleep(10, 400)
      }
    }
    client.hangUp()
  }

  async #turn(isOver: boolean): Promise<void> {
    const { client, spec } = this
    const link = await client.link()
    if (spec.kind === 'idempotent' && this.#identity === undefined) await this.#initialize(link)
    const depth = this.#depth
    while (!isOver && this.#batches.length < depth) this.#batches.push(this.#make())
    for (const batch of this.#batches) if (!batch.isDone && batch.sentOn !== link) this.#send(batch, link)
    if (spec.kind === 'silent') this.#batches.length = 0
    else await this.#take(this.#batches[0])
    await client.sleep(0, spec.pauseMs)
  }

  async #initialize(link: Link): Promise<void> {
    const losses = this.spec.losses()
    const answer = await link.ask('InitProducerId', 4, { transactionalId: null, transactionTimeoutMs: 60_000 })
    if (answer.errorCode !== 0) throw new NotNow(nameOfError(answer.errorCode))
    this.#identity = { id: answer.producerId, epoch: answer.producerEpoch, losses }
    this.#sequences.clear()
    this.#mostUnderWay = 0
    this.client.tell(`is producer ${answer.producerId}`)
  }

  #make(): Batch {
    const { chance } = this.client
    const { histories, kind, mostBytes } = this.spec
    const partition = chance.whole(0, histories.length)
    const names: string[] = []
    const values: string[] = []
    for (let count = chance.whole(1, 4); count > 0; count--) {
      const number = ++this.#made
      const name = `${this.client.name}-${number}`
      names.push(name)
      values.push(
        textOf(name, chance.happens(mostBytes > 10_000 ? 0.01 : 0.1) ? chance.whole(40, mostBytes) : chance.whole(30, 150)),
      )
      histories[partition]!.sends(name, { producer: this.client.name, number, once: kind === 'idempotent' })
    }
    const baseSequence = this.#sequences.get(partition) ?? 0
    this.#sequences.set(partition, baseSequence + names.length)
    const identity = this.#identity
    const bytes = batchOf({
      values,
      timestamp: this.client.world.wallMs,
      codec: chance.happens(0.2) ? 'gzip' : 'none',
      ...(identity === undefined ? {} : { sequence: { producerId: identity.id, producerEpoch: identity.epoch, baseSequence } }),
    })
    return { partition, names, bytes, attempts: 0, sentOn: undefined, answer: undefined, isDone: false }
  }

  #send(batch: Batch, link: Link): void {
    const { topic, acks } = this.spec
    batch.sentOn = link
    batch.attempts++
    this.#mostUnderWay = Math.max(
      this.#mostUnderWay,
      this.#batches.filter(({ partition }) => partition === batch.partition).length,
    )
    for (const name of batch.names) this.spec.histories[batch.partition]!.sentOn(name, link.stream.localPort)
    this.client.tell(`sends ${batch.names.join(' ')} to ${topic}-${batch.partition}`)
    const partitionData = [{ index: batch.partition, records: batch.bytes }]
    const body = { acks, timeoutMs: 3000, topicData: [{ name: topic, partitionData }] }
    if (acks === 0) {
      link.tell('Produce', 9, body)
      return
    }
    batch.answer = link.ask('Produce', 9, body).then((answer) => {
      const { errorCode, baseOffset } = answer.responses[0]!.partitionResponses[0]!
      const said = { error: nameOfError(errorCode), baseOffset }
      this.#noteAnswer(batch, said)
      return said
    })
    // The oldest one is waited for; what happens to it happens to those behind it.
    batch.answer.catch(() => {})
  }

  /** At once: what is lost later was acknowledged before. */
  #noteAnswer(batch: Batch, { error, baseOffset }: Answer): void {
    const history = this.spec.histories[batch.partition]!
    this.client.tell(`${batch.names.join(' ')}: ${error} ${baseOffset}`)
    batch.isDone = error === 'NONE' || error === 'DUPLICATE_SEQUENCE_NUMBER'
    if (error === 'NONE') for (const [at, name] of batch.names.entries()) history.acknowledged(name, baseOffset + at)
    if (error === 'DUPLICATE_SEQUENCE_NUMBER') for (const name of batch.names) history.acknowledged(name, -1)
  }

  async #take(batch: Batch | undefined): Promise<void> {
    if (batch?.answer === undefined) return
    const { error } = await batch.answer
    const history = this.spec.histories[batch.partition]!
    if (batch.isDone) {
      this.#batches.shift()
      return
    }
    batch.sentOn = undefined
    if (PASSING.has(error)) throw new NotNow(error)
    if (DOUBTFUL.has(error)) throw new LinkLost(error)
    if (STATE_IS_GONE.has(error) && this.spec.kind === 'idempotent') {
      // A snapshot knows the last batch of a producer only (as Kafka's): after a restart the ones before it are no duplicates any more.
      const isForgotten = batch.attempts > 1 && this.#mostUnderWay > 1
      if (this.#identity!.losses === this.spec.losses() && !isForgotten) {
        this.client.around.violations.note('a sequence was refused', `${history.name} ${batch.names[0]}: ${error}`)
      }
      // Whether they are there nobody can say any more; they are not sent again.
      this.#batches.length = 0
      this.#identity = undefined
      return
    }
    if (batch.attempts === 1) for (const name of batch.names) history.refused(name)
    this.client.tell(`${batch.names.join(' ')} refused`)
    this.#batches.length = 0
    this.#identity = undefined
  }

  /** A plain producer may leave it at that. */
  #giveUp(): void {
    const { spec, client } = this
    if (spec.kind !== 'idempotent' && client.chance.happens(0.5)) this.#batches.length = 0
  }
}
