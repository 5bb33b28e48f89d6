// Requests that are as long as a hostile client likes: the same item fifty thousand times, and as many different ones.

const COUNT = 50_000
const TOPIC = 'burdened'
const same = (item) => Array(COUNT).fill(item)
const many = (make) => Array.from({ length: COUNT }, (_, at) => make(at))

/** `[what, body]` of an API. */
export function burdens(api) {
  return Object.entries(BODIES[api] ?? {}).map(([what, body]) => [`${api}, ${what}`, body()])
}

const partitions = (of) => ({
  'one partition again and again': () => of(TOPIC, same(0)),
  'partitions that are not': () =>
    of(
      TOPIC,
      many((at) => at),
    ),
})
const names = (of) => ({
  'one name again and again': () => of(same(TOPIC)),
  'unknown names': () => of(many((at) => `unknown-${at}`)),
})

const BODIES = {
  Produce: partitions((name, indexes) => ({
    acks: -1,
    timeoutMs: 100,
    topicData: [{ name, partitionData: indexes.map((index) => ({ index, records: null })) }],
  })),
  Fetch: partitions((_, indexes) => ({
    replicaId: -1,
    maxWaitMs: 0,
    minBytes: 0,
    maxBytes: 1000,
    sessionId: 0,
    sessionEpoch: 0,
    topics: [
      {
        topicId: 'BBBBBBBBBBBBBBBBBBBBBQ',
        partitions: indexes.map((partition) => ({ partition, fetchOffset: 0, partitionMaxBytes: 10 })),
      },
    ],
  })),
  ListOffsets: partitions((name, indexes) => ({
    replicaId: -1,
    topics: [{ name, partitions: indexes.map((partitionIndex) => ({ partitionIndex, timestamp: -1 })) }],
  })),
  Metadata: names((all) => ({ topics: all.map((name) => ({ name })) })),
  OffsetCommit: partitions((name, indexes) => ({
    groupId: 'burden',
    generationIdOrMemberEpoch: -1,
    memberId: '',
    topics: [
      {
        name,
        partitions: indexes.map((partitionIndex) => ({
          partitionIndex,
          committedOffset: 1,
          committedLeaderEpoch: -1,
          committedMetadata: '',
        })),
      },
    ],
  })),
  OffsetFetch: partitions((name, partitionIndexes) => ({
    groups: [{ groupId: 'burden', topics: [{ name, partitionIndexes }] }],
  })),
  FindCoordinator: names((coordinatorKeys) => ({ keyType: 0, coordinatorKeys })),
  JoinGroup: names((all) => ({
    groupId: 'burden',
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 100,
    memberId: '',
    protocolType: 'consumer',
    protocols: all.map((name) => ({ name, metadata: Buffer.alloc(0) })),
  })),
  LeaveGroup: names((all) => ({ groupId: 'burden', members: all.map((memberId) => ({ memberId, groupInstanceId: null })) })),
  SyncGroup: names((all) => ({
    groupId: 'burden',
    generationId: 1,
    memberId: 'm',
    protocolType: 'consumer',
    protocolName: 'range',
    assignments: all.map((memberId) => ({ memberId, assignment: Buffer.alloc(0) })),
  })),
  DescribeGroups: names((groups) => ({ groups })),
  ListGroups: names((all) => ({ statesFilter: all, typesFilter: [] })),
  CreateTopics: {
    'one name again and again': () => ({
      topics: same({ name: 'made', numPartitions: 1, replicationFactor: 1 }),
      timeoutMs: 100,
    }),
    'names that none may have': () => ({
      topics: many((at) => ({ name: `not a name ${at}`, numPartitions: 1, replicationFactor: 1 })),
      timeoutMs: 100,
    }),
    'more partitions than one request may make': () => ({
      topics: many((at) => ({ name: `made-${at}`, numPartitions: 1, replicationFactor: 1 })),
      timeoutMs: 100,
    }),
    'one config again and again': () => ({
      topics: [{ name: 'made', numPartitions: 1, replicationFactor: 1, configs: same({ name: 'retention.ms', value: 'x' }) }],
      timeoutMs: 100,
    }),
    'many assignments': () => ({
      topics: [
        {
          name: 'made',
          numPartitions: -1,
          replicationFactor: -1,
          assignments: many((partitionIndex) => ({ partitionIndex, brokerIds: [1] })),
        },
      ],
      timeoutMs: 100,
    }),
    'many replicas': () => ({
      topics: [
        {
          name: 'made',
          numPartitions: -1,
          replicationFactor: -1,
          assignments: [{ partitionIndex: 0, brokerIds: many((at) => at) }],
        },
      ],
      timeoutMs: 100,
    }),
  },
  DeleteTopics: names((all) => ({ topics: all.map((name) => ({ name: name === TOPIC ? 'not-there' : name })), timeoutMs: 100 })),
  DeleteRecords: partitions((name, indexes) => ({
    topics: [{ name, partitions: indexes.map((partitionIndex) => ({ partitionIndex, offset: 0 })) }],
    timeoutMs: 100,
  })),
  OffsetForLeaderEpoch: partitions((topic, indexes) => ({
    replicaId: -1,
    topics: [{ topic, partitions: indexes.map((partition) => ({ partition, leaderEpoch: 0 })) }],
  })),
  DescribeConfigs: {
    ...names((all) => ({ resources: all.map((resourceName) => ({ resourceType: 2, resourceName, configurationKeys: [] })) })),
    'one key again and again': () => ({
      resources: [{ resourceType: 2, resourceName: TOPIC, configurationKeys: same('retention.ms') }],
    }),
  },
  AlterConfigs: names((all) => ({ resources: all.map((resourceName) => ({ resourceType: 2, resourceName, configs: [] })) })),
  IncrementalAlterConfigs: {
    ...names((all) => ({ resources: all.map((resourceName) => ({ resourceType: 2, resourceName, configs: [] })) })),
    'one config again and again': () => ({
      resources: [
        { resourceType: 2, resourceName: TOPIC, configs: same({ name: 'retention.ms', configOperation: 0, value: '1' }) },
      ],
    }),
    'list values': () => ({
      resources: [
        {
          resourceType: 2,
          resourceName: TOPIC,
          configs: [
            {
              name: 'cleanup.policy',
              configOperation: 2,
              value: many((at) => `p${at}`)
                .join()
                .slice(0, 32_000),
            },
          ],
        },
      ],
    }),
  },
  DescribeLogDirs: partitions((topic, all) => ({ topics: [{ topic, partitions: all }] })),
  CreatePartitions: {
    ...names((all) => ({ topics: all.map((name) => ({ name, count: 1, assignments: null })), timeoutMs: 100 })),
    'many assignments': () => ({
      topics: [{ name: TOPIC, count: COUNT + 1, assignments: many((at) => ({ brokerIds: [at] })) }],
      timeoutMs: 100,
    }),
  },
  DeleteGroups: names((groupsNames) => ({ groupsNames })),
  OffsetDelete: partitions((name, indexes) => ({
    groupId: 'burden',
    topics: [{ name, partitions: indexes.map((partitionIndex) => ({ partitionIndex })) }],
  })),
  DescribeProducers: partitions((name, partitionIndexes) => ({ topics: [{ name, partitionIndexes }] })),
}
