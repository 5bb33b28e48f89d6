/** Instrumentation events: their names (kafkajs' own) and the emitter that numbers and stamps them. */

import { KafkaJSNonRetriableError } from './errors.js'
import type { Clock } from './ports.js'

export const PRODUCER_EVENTS = {
  CONNECT: 'producer.connect',
  DISCONNECT: 'producer.disconnect',
  REQUEST: 'producer.network.request',
  REQUEST_TIMEOUT: 'producer.network.request_timeout',
  REQUEST_QUEUE_SIZE: 'producer.network.request_queue_size',
} as const

export const ADMIN_EVENTS = {
  CONNECT: 'admin.connect',
  DISCONNECT: 'admin.disconnect',
  REQUEST: 'admin.network.request',
  REQUEST_TIMEOUT: 'admin.network.request_timeout',
  REQUEST_QUEUE_SIZE: 'admin.network.request_queue_size',
} as const

export const CONSUMER_EVENTS = {
  HEARTBEAT: 'consumer.heartbeat',
  COMMIT_OFFSETS: 'consumer.commit_offsets',
  GROUP_JOIN: 'consumer.group_join',
  FETCH_START: 'consumer.fetch_start',
  FETCH: 'consumer.fetch',
  START_BATCH_PROCESS: 'consumer.start_batch_process',
  END_BATCH_PROCESS: 'consumer.end_batch_process',
  CONNECT: 'consumer.connect',
  DISCONNECT: 'consumer.disconnect',
  STOP: 'consumer.stop',
  CRASH: 'consumer.crash',
  REBALANCING: 'consumer.rebalancing',
  RECEIVED_UNSUBSCRIBED_TOPICS: 'consumer.received_unsubscribed_topics',
  REQUEST: 'consumer.network.request',
  REQUEST_TIMEOUT: 'consumer.network.request_timeout',
  REQUEST_QUEUE_SIZE: 'consumer.network.request_queue_size',
} as const

export type ProducerEvents = typeof PRODUCER_EVENTS
export type AdminEvents = typeof ADMIN_EVENTS
export type ConsumerEvents = typeof CONSUMER_EVENTS

export interface InstrumentationEvent<Payload> {
  readonly id: string
  readonly type: string
  /** Wall clock, ms since 1970. */
  readonly timestamp: number
  readonly payload: Payload
}

export type Listener = (event: InstrumentationEvent<unknown>) => void

/** Calls listeners in the order they came. A listener that throws (or rejects) is reported and disturbs nobody. */
export class Instrumentation {
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #clock: Clock
  readonly #onListenerError: (error: unknown, type: string) => void
  #lastId = 0

  constructor(clock: Clock, onListenerError: (error: unknown, type: string) => void) {
    this.#clock = clock
    this.#onListenerError = onListenerError
  }

  /** Adds a listener; the answer removes it. */
  on(type: string, listener: Listener): () => void {
    const entry: Listener = (event) => listener(event)
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners.add(entry))
    return () => {
      listeners.delete(entry)
    }
  }

  /** Costs a map lookup while nobody listens; the payload is only made when somebody does. */
  emit(type: string, payload: () => unknown): void {
    const listeners = this.#listeners.get(type)
    if (listeners === undefined || listeners.size === 0) return
    const event = { id: String(this.#lastId++), type, timestamp: this.#clock.now(), payload: payload() }
    for (const listener of [...listeners]) {
      try {
        Promise.resolve(listener(event)).catch((error: unknown) => this.#onListenerError(error, type))
      } catch (error) {
        this.#onListenerError(error, type)
      }
    }
  }
}

/** Makes a client's `on`: refuses names that it does not have, with kafkajs' text. */
export function onOf(
  kind: 'producer' | 'consumer' | 'admin',
  events: Readonly<Record<string, string>>,
  instrumentation: Instrumentation,
): (eventName: string, listener: Listener) => () => void {
  return (eventName, listener) => {
    if (!Object.values(events).includes(eventName))
      throw new KafkaJSNonRetriableError(
        `Event name should be one of ${Object.keys(events)
          .map((key) => `${kind}.events.${key}`)
          .join(', ')}`,
      )
    return instrumentation.on(eventName, listener)
  }
}
