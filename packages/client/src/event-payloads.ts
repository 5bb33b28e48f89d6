/** What each event carries, and which listener belongs to which name. Names and shapes are kafkajs'. */

import type { AdminEvents, ConsumerEvents, InstrumentationEvent, ProducerEvents } from './events.js'

export type ConnectEvent = InstrumentationEvent<null>
export type DisconnectEvent = InstrumentationEvent<null>

interface RequestPayload {
  apiKey: number
  apiName: string
  apiVersion: number
  /** host:port */
  broker: string
  clientId: string
  correlationId: number
  /** Wall clock, ms since 1970: when the call was made, and when it was written to the socket. */
  createdAt: number
  sentAt: number
  /** ms between the two. */
  pendingDuration: number
}
export type RequestEvent = InstrumentationEvent<RequestPayload & { duration: number; size: number }>
export type RequestTimeoutEvent = InstrumentationEvent<RequestPayload>
export type RequestQueueSizeEvent = InstrumentationEvent<{ broker: string; clientId: string; queueSize: number }>

interface Member {
  groupId: string
  memberId: string
}
export interface TopicOffsets {
  topic: string
  partitions: { partition: number; offset: string }[]
}
interface BatchPayload {
  topic: string
  partition: number
  highWatermark: string
  offsetLag: string
  offsetLagLow: string
  batchSize: number
  firstOffset: string
  lastOffset: string
}

export interface IMemberAssignment {
  [topic: string]: number[]
}
export type ConsumerHeartbeatEvent = InstrumentationEvent<Member & { groupGenerationId: number }>
export type ConsumerCommitOffsetsEvent = InstrumentationEvent<Member & { groupGenerationId: number; topics: TopicOffsets[] }>
export type ConsumerGroupJoinEvent = InstrumentationEvent<
  Member & { duration: number; isLeader: boolean; leaderId: string; groupProtocol: string; memberAssignment: IMemberAssignment }
>
export type ConsumerFetchStartEvent = InstrumentationEvent<{ nodeId: number }>
export type ConsumerFetchEvent = InstrumentationEvent<{ numberOfBatches: number; duration: number; nodeId: number }>
export type ConsumerStartBatchProcessEvent = InstrumentationEvent<BatchPayload>
export type ConsumerEndBatchProcessEvent = InstrumentationEvent<BatchPayload & { duration: number }>
export type ConsumerCrashEvent = InstrumentationEvent<{ error: Error; groupId: string; restart: boolean }>
export type ConsumerRebalancingEvent = InstrumentationEvent<Member>
/** The spelling is kafkajs'. */
export type ConsumerReceivedUnsubcribedTopicsEvent = InstrumentationEvent<
  Member & { generationId: number; assignedTopics: string[]; topicsSubscribed: string[]; topicsNotSubscribed: string[] }
>

type NetworkListeners<Events extends { REQUEST: string; REQUEST_TIMEOUT: string; REQUEST_QUEUE_SIZE: string }> = {
  [Name in Events['REQUEST']]: RequestEvent
} & { [Name in Events['REQUEST_TIMEOUT']]: RequestTimeoutEvent } & {
  [Name in Events['REQUEST_QUEUE_SIZE']]: RequestQueueSizeEvent
}

/** The event that a listener of each name gets. */
export type ProducerListeners = NetworkListeners<ProducerEvents> & {
  'producer.connect': ConnectEvent
  'producer.disconnect': DisconnectEvent
}
export type AdminListeners = NetworkListeners<AdminEvents> & {
  'admin.connect': ConnectEvent
  'admin.disconnect': DisconnectEvent
}
export type ConsumerListeners = NetworkListeners<ConsumerEvents> & {
  'consumer.connect': ConnectEvent
  'consumer.disconnect': DisconnectEvent
  'consumer.stop': InstrumentationEvent<null>
  'consumer.crash': ConsumerCrashEvent
  'consumer.heartbeat': ConsumerHeartbeatEvent
  'consumer.commit_offsets': ConsumerCommitOffsetsEvent
  'consumer.group_join': ConsumerGroupJoinEvent
  'consumer.fetch_start': ConsumerFetchStartEvent
  'consumer.fetch': ConsumerFetchEvent
  'consumer.start_batch_process': ConsumerStartBatchProcessEvent
  'consumer.end_batch_process': ConsumerEndBatchProcessEvent
  'consumer.rebalancing': ConsumerRebalancingEvent
  'consumer.received_unsubscribed_topics': ConsumerReceivedUnsubcribedTopicsEvent
}

/**
 * `on` of a client: a listener gets the event of its name; one for a name that is only known when the program runs gets any payload,
 * as kafkajs' declarations allow. The answer removes the listener.
 */
export interface On<Listeners> {
  <Name extends keyof Listeners>(eventName: Name, listener: (event: Listeners[Name]) => void): RemoveListener
  // biome-ignore lint/suspicious/noExplicitAny: programs written for kafkajs give listeners of any payload here
  (eventName: keyof Listeners, listener: (event: InstrumentationEvent<any>) => void): RemoveListener
}

export type RemoveListener = () => void
/** kafkajs' name for the same. */
export type RemoveInstrumentationEventListener<_Name> = RemoveListener
