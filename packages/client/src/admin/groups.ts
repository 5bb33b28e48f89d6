/** Groups: list, describe, delete. */

import { failureOf, KafkaJSDeleteGroupsError, KafkaJSNonRetriableError, protocolError } from '../errors.js'
import { groupDescription } from '../group-description.js'
import { checkArray } from './arguments.js'
import type { Routes } from './routes.js'

export class GroupAdmin {
  constructor(private readonly routes: Routes) {}

  /** Groups of all brokers. */
  async listGroups(): Promise<{ groups: { groupId: string; protocolType: string }[] }> {
    const { cluster } = this.routes
    await cluster.retrying(() => cluster.refreshMetadataIfNecessary())
    const answers = await Promise.all(
      cluster.getNodeIds().map((nodeId) =>
        cluster.retrying(async () => {
          const response = await (await cluster.findBroker({ nodeId })).send('ListGroups', {})
          if (response.errorCode !== 0) throw protocolError(response.errorCode)
          return response.groups
        }),
      ),
    )
    return { groups: answers.flat().map(({ groupId, protocolType }) => ({ groupId, protocolType })) }
  }

  async describeGroups(groupIds: string[]) {
    checkArray(groupIds, 'groupIds')
    const groups = await Promise.all(
      groupIds.map((groupId) =>
        this.routes.onCoordinator(groupId, async (coordinator) => {
          const { groups: answers } = await coordinator.send('DescribeGroups', { groups: [groupId] })
          const group = answers[0]!
          if (group.errorCode !== 0 && failureOf(group.errorCode).retriable) throw protocolError(group.errorCode)
          return groupDescription(group)
        }),
      ),
    )
    return { groups }
  }

  /** Resolves when all are deleted; rejects with KafkaJSDeleteGroupsError that lists those that were not. */
  async deleteGroups(groupIds: string[]): Promise<{ groupId: string; errorCode: number }[]> {
    checkArray(groupIds, 'groupIds')
    const bad = groupIds.find((groupId) => typeof groupId !== 'string')
    if (bad !== undefined) throw new KafkaJSNonRetriableError(`Invalid groupId name: ${JSON.stringify(bad)}`)
    const results = await Promise.all(
      groupIds.map((groupId) =>
        this.routes.onCoordinator(groupId, async (coordinator) => {
          const response = await coordinator.send('DeleteGroups', { groupsNames: [groupId] })
          const { errorCode } = response.results[0]!
          if (errorCode !== 0 && failureOf(errorCode).retriable) throw protocolError(errorCode)
          return { groupId, errorCode }
        }),
      ),
    )
    const failed = results
      .filter(({ errorCode }) => errorCode !== 0)
      .map((each) => ({ ...each, error: protocolError(each.errorCode) }))
    if (failed.length > 0) throw new KafkaJSDeleteGroupsError('Error in DeleteGroups', failed)
    return results
  }
}
