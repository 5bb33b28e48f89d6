/** Who waits when a broker throttles: since KIP-219 the broker answers at once and the client keeps quiet for the time that it was told. */

import type { ApiName } from '@mq/protocol'

/**
 * From these versions on the client does the waiting; before them the broker had waited already. Source: KIP-219, and what Apache Kafka
 * 3.9.1's own client does; it never waits for DescribeCluster.
 */
const CLIENT_SIDE_THROTTLE: Partial<Record<ApiName, number>> = {
  Produce: 6,
  Fetch: 8,
  ListOffsets: 3,
  Metadata: 6,
  OffsetCommit: 4,
  OffsetFetch: 4,
  FindCoordinator: 2,
  JoinGroup: 3,
  Heartbeat: 2,
  LeaveGroup: 2,
  SyncGroup: 2,
  DescribeGroups: 2,
  ListGroups: 2,
  ApiVersions: 2,
  CreateTopics: 3,
  DeleteTopics: 2,
  DeleteRecords: 1,
  InitProducerId: 1,
  CreatePartitions: 1,
  DescribeConfigs: 2,
  AlterConfigs: 1,
  IncrementalAlterConfigs: 0,
  DeleteGroups: 1,
  OffsetDelete: 0,
}

/** Has the client to wait for what this answer says, or has the broker waited already? */
export function clientThrottles(api: ApiName, version: number): boolean {
  const from = CLIENT_SIDE_THROTTLE[api]
  return from !== undefined && version >= from
}
