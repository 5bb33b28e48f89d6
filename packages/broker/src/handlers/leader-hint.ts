/**
 * Where a partition's leader is now, for an answer that sends the client elsewhere (KIP-951): it saves the client a look at
 * the metadata.
 */
import type { RequestContext } from '../services.js'

export interface LeaderHint {
  readonly leaderId: number
  readonly leaderEpoch: number
}

export interface NodeEndpoint {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

const UNKNOWN: LeaderHint = { leaderId: -1, leaderEpoch: -1 }

/** Gathers the leaders that one answer names, and the addresses of these brokers on the client's listener. */
export class LeaderHints {
  readonly #context: RequestContext
  /** Made when the first leader is named: nearly every answer names none. */
  #endpoints: Map<number, NodeEndpoint> | null = null

  constructor(context: RequestContext) {
    this.#context = context
  }

  get nodeEndpoints(): NodeEndpoint[] {
    return this.#endpoints === null ? [] : [...this.#endpoints.values()]
  }

  leaderOf(topic: string, partition: number): LeaderHint {
    const image = this.#context.broker.controller.image()
    const state = image.partition(topic, partition)
    if (state === undefined) return UNKNOWN
    const broker = image.brokers.get(state.leader)
    const endpoint = broker?.endpoints.find((candidate) => candidate.listenerName === this.#context.listenerName)
    if (broker !== undefined && endpoint !== undefined) {
      this.#endpoints ??= new Map()
      this.#endpoints.set(broker.id, { nodeId: broker.id, host: endpoint.host, port: endpoint.port, rack: broker.rack })
    }
    return { leaderId: state.leader, leaderEpoch: state.leaderEpoch }
  }
}
