/** The configs that partitions obey. The rows of replication between brokers stand with the broker until there is a second one. */
import { atLeast, type ConfigValues, configs, type TopicConfigValues } from '@mq/protocol'

export const REPLICA_CONFIG = configs({
  'min.insync.replicas': {
    type: 'int',
    default: 1,
    valid: atLeast(1),
    importance: 'high',
    update: 'cluster-wide',
    topic: { name: 'min.insync.replicas', importance: 'medium' },
    doc: 'How many in-sync replicas must hold a record before a producer with acks=all is answered. More than there are replicas counts as all of them.',
    effect: 'honoured',
  },
})

export type ReplicaConfig = ConfigValues<typeof REPLICA_CONFIG>
export type ReplicaTopicConfig = TopicConfigValues<typeof REPLICA_CONFIG>
