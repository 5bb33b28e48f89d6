/**
 * A broker without sockets for tests of handlers: real partitions and real logs on a disk in memory, and time that the test
 * moves. Requests go through the codecs of their version both ways, so that only what the wire can say is said.
 */
import {
  APIS,
  type ApiName,
  type Body,
  decodeBody,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  errorByCode,
  type Input,
  type RequestOf,
  type ResponseOf,
  readRequestHeader,
} from '@mq/protocol'
import { type Partition, Partitions } from '@mq/replica'
import { readConfig } from '../../config/read.js'
import type { Controller } from '../../controller/api.js'
import { MetadataImage, type PartitionImage, type TopicImage, ZERO_TOPIC_ID } from '../../metadata/image.js'
import { partitionConfigOf } from '../../partition-channel.js'
import type { Logger } from '../../ports.js'
import { ProducerIds } from '../../producer-ids.js'
import type { BrokerServices, RequestContext } from '../../services.js'
import { FetchSessions } from '../fetch-sessions.js'
import { CLOSE_CONNECTION, NO_RESPONSE } from '../handler.js'
import { HANDLERS } from '../index.js'
import { openTestLogs, type TestLogs } from './test-logs.js'

export interface TopicSpec {
  readonly name: string
  readonly partitions: number
  readonly configs?: Readonly<Record<string, string>>
}

const LISTENER = 'PLAINTEXT'

export class Assembly {
  readonly #logs: TestLogs
  readonly #gone = new Set<() => void>()
  readonly said: { level: string; fields: object; message: string }[] = []
  readonly partitions: Partitions
  readonly broker: BrokerServices
  #image: MetadataImage
  #correlationId = 0
  /** Those of the logs, which run all the time. */
  #idleTimers = 0

  private constructor(logs: TestLogs, config: Readonly<Record<string, string>>) {
    this.#logs = logs
    const { time, random } = logs
    const settings = readConfig(new Map(Object.entries(config)))
    const turn = { afterThisTurn: (run: () => void) => queueMicrotask(run) }
    const note =
      (level: string): Logger['info'] =>
      (fields, message) => {
        this.said.push({ level, fields, message })
      }
    this.partitions = new Partitions({ brokerId: 0, logs: logs.directories, timers: time, turn })
    this.#image = MetadataImage.empty.with({
      clusterId: 'cluster',
      controllerId: 0,
      brokers: [
        {
          id: 0,
          epoch: 1,
          rack: null,
          endpoints: [{ listenerName: LISTENER, securityProtocol: LISTENER, host: 'here', port: 9 }],
        },
      ],
    })
    let blocks = 0
    this.broker = {
      brokerId: 0,
      clusterId: 'cluster',
      config: settings.values,
      settings,
      clock: time,
      timers: time,
      turn,
      random,
      offload: logs.directories.offload,
      log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
      controller: { image: () => this.#image } as Controller,
      partitions: this.partitions,
      fetchSessions: new FetchSessions({
        slots: settings.values['max.incremental.fetch.session.cache.slots'],
        clock: time,
        random,
      }),
      producerIds: new ProducerIds({ take: async () => ({ first: 1000 * blocks++, count: 1000 }) }),
    } as unknown as BrokerServices
  }

  static async start(topics: readonly TopicSpec[], config: Readonly<Record<string, string>> = {}): Promise<Assembly> {
    const assembly = new Assembly(await openTestLogs('memory'), config)
    for (const topic of topics) await assembly.create(topic)
    assembly.#idleTimers = assembly.time.pendingTimers
    return assembly
  }

  /** The partitions that lie in a directory, led as they were left. */
  static async adopt(logs: TestLogs): Promise<Assembly> {
    const assembly = new Assembly(logs, {})
    const config = partitionConfigOf({}, assembly.broker.settings)
    const topics = new Map<string, { topicId: string; states: Map<number, PartitionImage> }>()
    for (const { topicPartition, topicId, latestLeaderEpoch } of logs.directories.all()) {
      const terms = { leaderEpoch: Math.max(0, latestLeaderEpoch), isr: [0], replicas: [0] }
      await assembly.partitions.lead(topicPartition, { ...terms, topicId, config })
      const { topic, partition } = topicPartition
      const known = topics.get(topic) ?? { topicId: topicId ?? ZERO_TOPIC_ID, states: new Map() }
      known.states.set(partition, stateOf(terms))
      topics.set(topic, known)
    }
    for (const [name, { topicId, states }] of topics) {
      const partitions = Array.from({ length: Math.max(...states.keys()) + 1 }, (_, at) => states.get(at)!)
      assembly.see({ topics: [{ name, topicId, isInternal: name.startsWith('__'), partitions, configs: {} }] })
    }
    return assembly
  }

  get time() {
    return this.#logs.time
  }

  async create({ name, partitions, configs = {} }: TopicSpec): Promise<void> {
    const topicId = this.topicId(name)
    const config = partitionConfigOf(configs, this.broker.settings)
    const terms = { leaderEpoch: 0, isr: [0], replicas: [0] }
    for (let partition = 0; partition < partitions; partition++) {
      await this.partitions.lead({ topic: name, partition }, { ...terms, topicId, config })
    }
    const topic: TopicImage = {
      name,
      topicId,
      isInternal: name.startsWith('__'),
      partitions: Array.from({ length: partitions }, () => stateOf(terms)),
      configs,
    }
    this.#image = this.#image.with({ topics: [topic] })
  }

  /** An id made of the name, so that it is the same in every run. */
  topicId(name: string): string {
    return Buffer.alloc(16, `${name}~`).toString('base64url')
  }

  partition(topic: string, index = 0): Partition {
    return this.partitions.get(topic, index)!
  }

  /** The picture of the cluster as the handlers see it. */
  see(change: Parameters<MetadataImage['with']>[0]): void {
    this.#image = this.#image.with(change)
  }

  /** Sends and decodes; `nothing` or `closed` where there is no answer. */
  async ask<Name extends ApiName>(
    api: Name,
    version: number,
    body: Input<RequestOf<Name>>,
    clientId = 'script',
  ): Promise<Body<ResponseOf<Name>> | 'nothing' | 'closed'> {
    const request = { api, version, correlationId: 7, clientId, body } as unknown as Parameters<typeof encodeRequest>[0]
    const frame = Buffer.concat(encodeRequest(request)).subarray(4)
    const answer = await this.serve(api, version, frame.subarray(readRequestHeader(frame).bodyAt), clientId)
    if (answer === 'nothing' || answer === 'closed') return answer
    return decodeResponse({ api, version, frame: answer }).body as Body<ResponseOf<Name>>
  }

  /** The same from bytes to bytes: a body in, a frame (without its length) out. Throws DecodeError for what cannot be read. */
  async serve(api: ApiName, version: number, body: Buffer, clientId = 'script'): Promise<Buffer | 'nothing' | 'closed'> {
    const handler = HANDLERS.find((candidate) => candidate.api === api)
    if (handler === undefined || version < handler.minVersion || version > handler.maxVersion) {
      throw new Error(`${api} v${version} is not served`)
    }
    const correlationId = ++this.#correlationId
    const request = decodeBody(APIS[api].request, version, body)
    const answer = await handler.serve(request, this.#context(version, correlationId, clientId))
    if (answer === NO_RESPONSE) return 'nothing'
    if (answer === CLOSE_CONNECTION) return 'closed'
    const response = { api, version, correlationId, body: answer } as Parameters<typeof encodeResponse>[0]
    return Buffer.concat(encodeResponse(response)).subarray(4)
  }

  /** All clients that wait for an answer go away. */
  hangUp(): void {
    for (const gone of [...this.#gone]) gone()
  }

  /** Timers of requests that wait. */
  get waitingTimers(): number {
    return this.time.pendingTimers - this.#idleTimers
  }

  get waiting(): number {
    return this.partitions.delayedFetches.size
  }

  #context(apiVersion: number, correlationId: number, clientId: string): RequestContext {
    return {
      apiVersion,
      correlationId,
      clientId,
      listenerName: LISTENER,
      clientAddress: '127.0.0.1',
      connectionId: 'c1',
      onGone: (gone) => {
        this.#gone.add(gone)
        return () => this.#gone.delete(gone)
      },
      broker: this.broker,
    }
  }
}

const stateOf = (terms: { leaderEpoch: number; isr: readonly number[]; replicas: readonly number[] }): PartitionImage => ({
  ...terms,
  leader: 0,
  offlineReplicas: [],
  addingReplicas: [],
  removingReplicas: [],
  partitionEpoch: 0,
  controllerEpoch: 1,
})

/** The name of an error code, which reads better in a test. */
export const errorName = (code: number) => (code === 0 ? 'NONE' : errorByCode(code))
