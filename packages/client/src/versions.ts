/**
 * Which version of each API the client speaks, and the choice for one broker: the highest that both know.
 * A row is only as high as the code that fills the request: a newer version may ask for fields that nobody here knows how to set.
 */

import { APIS, type ApiName, type Body, type Input } from '@mq/protocol'

export const CLIENT_VERSIONS = {
  Produce: [3, 9],
  Fetch: [4, 12],
  ListOffsets: [1, 7],
  Metadata: [1, 9],
  OffsetCommit: [2, 8],
  OffsetFetch: [1, 7],
  FindCoordinator: [0, 3],
  JoinGroup: [0, 8],
  Heartbeat: [0, 4],
  LeaveGroup: [0, 4],
  SyncGroup: [0, 5],
  DescribeGroups: [0, 5],
  ListGroups: [0, 4],
  ApiVersions: [0, 3],
  CreateTopics: [0, 7],
  DeleteTopics: [0, 5],
  DeleteRecords: [0, 2],
  InitProducerId: [0, 4],
  CreatePartitions: [0, 3],
  DescribeConfigs: [0, 4],
  AlterConfigs: [0, 2],
  IncrementalAlterConfigs: [0, 1],
  DeleteGroups: [0, 2],
  OffsetDelete: [0, 0],
  DescribeCluster: [0, 1],
} as const satisfies Partial<Record<ApiName, readonly [min: number, max: number]>>

export type RequestOf<Api extends ApiName> = Input<(typeof APIS)[Api]['request']>
export type ResponseOf<Api extends ApiName> = Body<
  (typeof APIS)[Api]['response'],
  Api extends keyof typeof EXACT_ANSWERS ? number | bigint : number
>

/** Answers with times of records, which may be any int64: the rest is read as numbers, which costs less (docs of `Int64Reading`). */
export const EXACT_ANSWERS = { ListOffsets: true } as const satisfies Partial<Record<ApiName, true>>

/** What a broker said it serves, by API key. */
export type OfferedVersions = ReadonlyMap<number, { readonly minVersion: number; readonly maxVersion: number }>

/** The highest version that both sides know, or undefined. */
export function negotiate(api: ApiName, offered: OfferedVersions): number | undefined {
  const spoken = (CLIENT_VERSIONS as Partial<Record<ApiName, readonly [number, number]>>)[api]
  const range = offered.get(APIS[api].key)
  if (spoken === undefined || range === undefined) return undefined
  const version = Math.min(spoken[1], range.maxVersion)
  return version >= Math.max(spoken[0], range.minVersion) ? version : undefined
}
