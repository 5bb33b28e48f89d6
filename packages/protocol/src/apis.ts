// The table of APIs: key, messages, and which versions which release speaks.

import * as m from './messages/index.js'
import type { Message } from './schema/message.js'
import { contains, type Range, rangeOf, type Versions } from './schema/versions.js'

export interface Api<Request extends Message = Message, Response extends Message = Message> {
  readonly name: string
  readonly key: number
  readonly request: Request
  readonly response: Response
  readonly versions: {
    /** What 3.9.1 defines, unstable versions included. */
    readonly '3.9': Range | null
    /** What a running 3.9.1 broker in ZooKeeper mode offers; null where it answers UNSUPPORTED_VERSION. */
    readonly live: Range | null
    /** What 4.4.0 defines. */
    readonly '4.4': Range | null
    /** From the lowest to the highest that either has: what we can encode and decode. */
    readonly all: Range
  }
  /** Needs the right ClusterAction: brokers and controllers speak it among themselves. */
  readonly clusterAction: boolean
}

interface Exceptions {
  readonly live?: 'none'
  readonly clusterAction?: true
}

/** Versions of 3.9.1, then of 4.4.0. What 3.9.1 defines a running broker offers, but for exceptions. */
function api<const Request extends Message, const Response extends Message>(
  key: number,
  request: Request,
  response: Response,
  of39: Versions,
  of44: Versions,
  { live, clusterAction }: Exceptions = {},
): Api<Request, Response> {
  const [old, current] = [rangeOrNull(of39), rangeOrNull(of44)]
  const versions = { '3.9': old, live: live === 'none' ? null : old, '4.4': current, all: rangeOf(request.versions) }
  return {
    name: request.name.slice(0, -'Request'.length),
    key,
    request,
    response,
    versions,
    clusterAction: clusterAction === true,
  }
}

function rangeOrNull(versions: Versions): Range | null {
  return versions === 'none' ? null : rangeOf(versions)
}

export const APIS = {
  Produce: api(0, m.ProduceRequest, m.ProduceResponse, '0-11', '3-13'),
  Fetch: api(1, m.FetchRequest, m.FetchResponse, '0-17', '4-18'),
  ListOffsets: api(2, m.ListOffsetsRequest, m.ListOffsetsResponse, '0-9', '1-11'),
  Metadata: api(3, m.MetadataRequest, m.MetadataResponse, '0-12', '0-13'),
  LeaderAndIsr: api(4, m.LeaderAndIsrRequest, m.LeaderAndIsrResponse, '0-7', 'none', { clusterAction: true }),
  StopReplica: api(5, m.StopReplicaRequest, m.StopReplicaResponse, '0-4', 'none', { clusterAction: true }),
  UpdateMetadata: api(6, m.UpdateMetadataRequest, m.UpdateMetadataResponse, '0-8', 'none', { clusterAction: true }),
  ControlledShutdown: api(7, m.ControlledShutdownRequest, m.ControlledShutdownResponse, '0-3', 'none', { clusterAction: true }),
  OffsetCommit: api(8, m.OffsetCommitRequest, m.OffsetCommitResponse, '0-9', '2-10'),
  OffsetFetch: api(9, m.OffsetFetchRequest, m.OffsetFetchResponse, '0-9', '1-10'),
  FindCoordinator: api(10, m.FindCoordinatorRequest, m.FindCoordinatorResponse, '0-6', '0-6'),
  JoinGroup: api(11, m.JoinGroupRequest, m.JoinGroupResponse, '0-9', '0-9'),
  Heartbeat: api(12, m.HeartbeatRequest, m.HeartbeatResponse, '0-4', '0-4'),
  LeaveGroup: api(13, m.LeaveGroupRequest, m.LeaveGroupResponse, '0-5', '0-5'),
  SyncGroup: api(14, m.SyncGroupRequest, m.SyncGroupResponse, '0-5', '0-5'),
  DescribeGroups: api(15, m.DescribeGroupsRequest, m.DescribeGroupsResponse, '0-5', '0-6'),
  ListGroups: api(16, m.ListGroupsRequest, m.ListGroupsResponse, '0-5', '0-5'),
  SaslHandshake: api(17, m.SaslHandshakeRequest, m.SaslHandshakeResponse, '0-1', '0-1'),
  ApiVersions: api(18, m.ApiVersionsRequest, m.ApiVersionsResponse, '0-4', '0-5'),
  CreateTopics: api(19, m.CreateTopicsRequest, m.CreateTopicsResponse, '0-7', '2-7'),
  DeleteTopics: api(20, m.DeleteTopicsRequest, m.DeleteTopicsResponse, '0-6', '1-6'),
  DeleteRecords: api(21, m.DeleteRecordsRequest, m.DeleteRecordsResponse, '0-2', '0-2'),
  InitProducerId: api(22, m.InitProducerIdRequest, m.InitProducerIdResponse, '0-5', '0-6'),
  OffsetForLeaderEpoch: api(23, m.OffsetForLeaderEpochRequest, m.OffsetForLeaderEpochResponse, '0-4', '2-4'),
  AddPartitionsToTxn: api(24, m.AddPartitionsToTxnRequest, m.AddPartitionsToTxnResponse, '0-5', '0-5'),
  AddOffsetsToTxn: api(25, m.AddOffsetsToTxnRequest, m.AddOffsetsToTxnResponse, '0-4', '0-4'),
  EndTxn: api(26, m.EndTxnRequest, m.EndTxnResponse, '0-4', '0-5'),
  WriteTxnMarkers: api(27, m.WriteTxnMarkersRequest, m.WriteTxnMarkersResponse, '0-1', '1-2', { clusterAction: true }),
  TxnOffsetCommit: api(28, m.TxnOffsetCommitRequest, m.TxnOffsetCommitResponse, '0-4', '0-6'),
  DescribeAcls: api(29, m.DescribeAclsRequest, m.DescribeAclsResponse, '0-3', '1-3'),
  CreateAcls: api(30, m.CreateAclsRequest, m.CreateAclsResponse, '0-3', '1-3'),
  DeleteAcls: api(31, m.DeleteAclsRequest, m.DeleteAclsResponse, '0-3', '1-3'),
  DescribeConfigs: api(32, m.DescribeConfigsRequest, m.DescribeConfigsResponse, '0-4', '1-4'),
  AlterConfigs: api(33, m.AlterConfigsRequest, m.AlterConfigsResponse, '0-2', '0-2'),
  AlterReplicaLogDirs: api(34, m.AlterReplicaLogDirsRequest, m.AlterReplicaLogDirsResponse, '0-2', '1-2'),
  DescribeLogDirs: api(35, m.DescribeLogDirsRequest, m.DescribeLogDirsResponse, '0-4', '1-5'),
  SaslAuthenticate: api(36, m.SaslAuthenticateRequest, m.SaslAuthenticateResponse, '0-2', '0-2'),
  CreatePartitions: api(37, m.CreatePartitionsRequest, m.CreatePartitionsResponse, '0-3', '0-3'),
  CreateDelegationToken: api(38, m.CreateDelegationTokenRequest, m.CreateDelegationTokenResponse, '0-3', '1-3'),
  RenewDelegationToken: api(39, m.RenewDelegationTokenRequest, m.RenewDelegationTokenResponse, '0-2', '1-2'),
  ExpireDelegationToken: api(40, m.ExpireDelegationTokenRequest, m.ExpireDelegationTokenResponse, '0-2', '1-2'),
  DescribeDelegationToken: api(41, m.DescribeDelegationTokenRequest, m.DescribeDelegationTokenResponse, '0-3', '1-3'),
  DeleteGroups: api(42, m.DeleteGroupsRequest, m.DeleteGroupsResponse, '0-2', '0-3'),
  ElectLeaders: api(43, m.ElectLeadersRequest, m.ElectLeadersResponse, '0-2', '0-2'),
  IncrementalAlterConfigs: api(44, m.IncrementalAlterConfigsRequest, m.IncrementalAlterConfigsResponse, '0-1', '0-1'),
  AlterPartitionReassignments: api(45, m.AlterPartitionReassignmentsRequest, m.AlterPartitionReassignmentsResponse, '0', '0-1'),
  ListPartitionReassignments: api(46, m.ListPartitionReassignmentsRequest, m.ListPartitionReassignmentsResponse, '0', '0'),
  OffsetDelete: api(47, m.OffsetDeleteRequest, m.OffsetDeleteResponse, '0', '0'),
  DescribeClientQuotas: api(48, m.DescribeClientQuotasRequest, m.DescribeClientQuotasResponse, '0-1', '0-1'),
  AlterClientQuotas: api(49, m.AlterClientQuotasRequest, m.AlterClientQuotasResponse, '0-1', '0-1'),
  DescribeUserScramCredentials: api(50, m.DescribeUserScramCredentialsRequest, m.DescribeUserScramCredentialsResponse, '0', '0'),
  AlterUserScramCredentials: api(51, m.AlterUserScramCredentialsRequest, m.AlterUserScramCredentialsResponse, '0', '0'),
  Vote: api(52, m.VoteRequest, m.VoteResponse, '0-1', '0-2', { live: 'none', clusterAction: true }),
  BeginQuorumEpoch: api(53, m.BeginQuorumEpochRequest, m.BeginQuorumEpochResponse, '0-1', '0-1', {
    live: 'none',
    clusterAction: true,
  }),
  EndQuorumEpoch: api(54, m.EndQuorumEpochRequest, m.EndQuorumEpochResponse, '0-1', '0-1', { live: 'none', clusterAction: true }),
  DescribeQuorum: api(55, m.DescribeQuorumRequest, m.DescribeQuorumResponse, '0-2', '0-2', { live: 'none', clusterAction: true }),
  AlterPartition: api(56, m.AlterPartitionRequest, m.AlterPartitionResponse, '0-3', '2-3', { clusterAction: true }),
  UpdateFeatures: api(57, m.UpdateFeaturesRequest, m.UpdateFeaturesResponse, '0-1', '0-2', { clusterAction: true }),
  Envelope: api(58, m.EnvelopeRequest, m.EnvelopeResponse, '0', '0', { clusterAction: true }),
  FetchSnapshot: api(59, m.FetchSnapshotRequest, m.FetchSnapshotResponse, '0-1', '0-1', { live: 'none' }),
  DescribeCluster: api(60, m.DescribeClusterRequest, m.DescribeClusterResponse, '0-1', '0-2'),
  DescribeProducers: api(61, m.DescribeProducersRequest, m.DescribeProducersResponse, '0', '0'),
  BrokerRegistration: api(62, m.BrokerRegistrationRequest, m.BrokerRegistrationResponse, '0-4', '0-4', {
    live: 'none',
    clusterAction: true,
  }),
  BrokerHeartbeat: api(63, m.BrokerHeartbeatRequest, m.BrokerHeartbeatResponse, '0-1', '0-2', {
    live: 'none',
    clusterAction: true,
  }),
  UnregisterBroker: api(64, m.UnregisterBrokerRequest, m.UnregisterBrokerResponse, '0', '0', { live: 'none' }),
  DescribeTransactions: api(65, m.DescribeTransactionsRequest, m.DescribeTransactionsResponse, '0', '0'),
  ListTransactions: api(66, m.ListTransactionsRequest, m.ListTransactionsResponse, '0-1', '0-2'),
  AllocateProducerIds: api(67, m.AllocateProducerIdsRequest, m.AllocateProducerIdsResponse, '0', '0', { clusterAction: true }),
  ConsumerGroupHeartbeat: api(68, m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse, '0', '0-1'),
  ConsumerGroupDescribe: api(69, m.ConsumerGroupDescribeRequest, m.ConsumerGroupDescribeResponse, '0', '0-1'),
  ControllerRegistration: api(70, m.ControllerRegistrationRequest, m.ControllerRegistrationResponse, '0', '0', { live: 'none' }),
  GetTelemetrySubscriptions: api(71, m.GetTelemetrySubscriptionsRequest, m.GetTelemetrySubscriptionsResponse, '0', '0', {
    live: 'none',
  }),
  PushTelemetry: api(72, m.PushTelemetryRequest, m.PushTelemetryResponse, '0', '0', { live: 'none' }),
  AssignReplicasToDirs: api(73, m.AssignReplicasToDirsRequest, m.AssignReplicasToDirsResponse, '0', '0', { live: 'none' }),
  ListConfigResources: api(74, m.ListConfigResourcesRequest, m.ListConfigResourcesResponse, '0', '0-1', { live: 'none' }),
  DescribeTopicPartitions: api(75, m.DescribeTopicPartitionsRequest, m.DescribeTopicPartitionsResponse, '0', '0', {
    live: 'none',
  }),
  ShareGroupHeartbeat: api(76, m.ShareGroupHeartbeatRequest, m.ShareGroupHeartbeatResponse, '0', '1', { live: 'none' }),
  ShareGroupDescribe: api(77, m.ShareGroupDescribeRequest, m.ShareGroupDescribeResponse, '0', '1', { live: 'none' }),
  ShareFetch: api(78, m.ShareFetchRequest, m.ShareFetchResponse, '0', '1-2', { live: 'none' }),
  ShareAcknowledge: api(79, m.ShareAcknowledgeRequest, m.ShareAcknowledgeResponse, '0', '1-2', { live: 'none' }),
  AddRaftVoter: api(80, m.AddRaftVoterRequest, m.AddRaftVoterResponse, '0', '0-1', { live: 'none' }),
  RemoveRaftVoter: api(81, m.RemoveRaftVoterRequest, m.RemoveRaftVoterResponse, '0', '0', { live: 'none' }),
  UpdateRaftVoter: api(82, m.UpdateRaftVoterRequest, m.UpdateRaftVoterResponse, '0', '0', { live: 'none' }),
  InitializeShareGroupState: api(83, m.InitializeShareGroupStateRequest, m.InitializeShareGroupStateResponse, '0', '0', {
    live: 'none',
    clusterAction: true,
  }),
  ReadShareGroupState: api(84, m.ReadShareGroupStateRequest, m.ReadShareGroupStateResponse, '0', '0', {
    live: 'none',
    clusterAction: true,
  }),
  WriteShareGroupState: api(85, m.WriteShareGroupStateRequest, m.WriteShareGroupStateResponse, '0', '0-1', {
    live: 'none',
    clusterAction: true,
  }),
  DeleteShareGroupState: api(86, m.DeleteShareGroupStateRequest, m.DeleteShareGroupStateResponse, '0', '0', {
    live: 'none',
    clusterAction: true,
  }),
  ReadShareGroupStateSummary: api(87, m.ReadShareGroupStateSummaryRequest, m.ReadShareGroupStateSummaryResponse, '0', '0-1', {
    live: 'none',
    clusterAction: true,
  }),
  StreamsGroupHeartbeat: api(88, m.StreamsGroupHeartbeatRequest, m.StreamsGroupHeartbeatResponse, 'none', '0-1'),
  StreamsGroupDescribe: api(89, m.StreamsGroupDescribeRequest, m.StreamsGroupDescribeResponse, 'none', '0-1'),
  DescribeShareGroupOffsets: api(90, m.DescribeShareGroupOffsetsRequest, m.DescribeShareGroupOffsetsResponse, 'none', '0-1'),
  AlterShareGroupOffsets: api(91, m.AlterShareGroupOffsetsRequest, m.AlterShareGroupOffsetsResponse, 'none', '0'),
  DeleteShareGroupOffsets: api(92, m.DeleteShareGroupOffsetsRequest, m.DeleteShareGroupOffsetsResponse, 'none', '0'),
  StreamsGroupTopologyDescriptionUpdate: api(
    93,
    m.StreamsGroupTopologyDescriptionUpdateRequest,
    m.StreamsGroupTopologyDescriptionUpdateResponse,
    'none',
    '0',
  ),
  UnregisterController: api(94, m.UnregisterControllerRequest, m.UnregisterControllerResponse, 'none', '0'),
} as const satisfies Record<string, Api>

export type ApiName = keyof typeof APIS
export type RequestOf<Name extends ApiName> = (typeof APIS)[Name]['request']
export type ResponseOf<Name extends ApiName> = (typeof APIS)[Name]['response']

const byKey = new Map<number, Api & { readonly name: ApiName }>(
  Object.entries(APIS).map(([name, row]) => [row.key, { ...(row as Api), name: name as ApiName }]),
)

export function apiByKey(key: number): (Api & { readonly name: ApiName }) | undefined {
  return byKey.get(key)
}

/** Do this version's messages have compact lengths and tagged fields? */
export function isFlexible(schema: Message, version: number): boolean {
  return contains(schema.flexible, version)
}
