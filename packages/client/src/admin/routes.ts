/** Which broker answers what: the controller, a group's coordinator, a resource's own broker; each call by the policy's tries. */

import type { Cluster } from '../cluster.js'
import type { Connection } from '../connection.js'
import { ConfigResourceTypes } from '../enums.js'
import type { RetryLimits } from '../retry.js'

/** Time limit of the broker's own work, in ms. */
export const DEFAULT_TIMEOUT_MS = 5_000

/** To a question about a topic this is an answer, at once, as in kafkajs; only what has just been made is worth waiting for. */
export const UNKNOWN_TOPIC_IS_AN_ANSWER: RetryLimits = {
  isAnswer: (error) => (error as { type?: string }).type === 'UNKNOWN_TOPIC_OR_PARTITION',
}

export class Routes {
  constructor(readonly cluster: Cluster) {}

  onController<Result>(work: (controller: Connection) => Promise<Result>, limits?: RetryLimits): Promise<Result> {
    const { cluster } = this
    return cluster.retrying(async () => {
      try {
        return await work(await cluster.findControllerBroker())
      } catch (error) {
        if ((error as { type?: string }).type === 'NOT_CONTROLLER') await cluster.refreshMetadata()
        throw error
      }
    }, limits)
  }

  onCoordinator<Result>(groupId: string, work: (coordinator: Connection) => Promise<Result>): Promise<Result> {
    const { cluster } = this
    return cluster.retrying(async () => {
      try {
        return await work(await cluster.findGroupCoordinator({ groupId }))
      } catch (error) {
        if ((error as { retriable?: boolean }).retriable !== false) cluster.forgetCoordinator(groupId)
        throw error
      }
    })
  }

  /** Configs of a broker are asked of that broker, all others of the controller. */
  async byResource<Resource extends { type: ConfigResourceTypes; name: string }, Answer>(
    resources: readonly Resource[],
    ask: (connection: Connection, group: Resource[]) => Promise<Answer>,
  ): Promise<Answer[]> {
    const { cluster } = this
    const ofBrokers = new Map<string, Resource[]>()
    const others: Resource[] = []
    for (const each of resources) {
      if (each.type !== ConfigResourceTypes.BROKER && each.type !== ConfigResourceTypes.BROKER_LOGGER) others.push(each)
      else ofBrokers.set(each.name, [...(ofBrokers.get(each.name) ?? []), each])
    }
    const answers: Answer[] = []
    if (others.length > 0)
      answers.push(await this.onController((controller) => ask(controller, others), UNKNOWN_TOPIC_IS_AN_ANSWER))
    for (const [nodeId, group] of ofBrokers)
      answers.push(await cluster.retrying(async () => ask(await cluster.findBroker({ nodeId }), group)))
    return answers
  }

  async know(topics: string[], limits?: RetryLimits): Promise<void> {
    const { cluster } = this
    await cluster.retrying(() => cluster.addMultipleTargetTopics(topics), limits)
  }
}
