/**
 * OffsetForLeaderEpoch v0-4: where an epoch ended, by which consumers and followers find out that records were cut (KIP-101,
 * KIP-320). v2 fences by the current epoch, v4 flexible.
 */
import { type ErrorName, errorCode, type OffsetForLeaderEpochRequest } from '@mq/protocol'
import type { BrokerServices } from '../services.js'
import { handler } from './handler.js'
import { hostedPartition } from './hosted-partition.js'

type Asked = OffsetForLeaderEpochRequest['topics'][number]['partitions'][number]

export const offsetForLeaderEpoch = handler('OffsetForLeaderEpoch', { versions: '0-4' }, (request, { broker }) => ({
  throttleTimeMs: 0,
  topics: request.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((asked) => {
      const { partition } = asked
      const end = endOf(broker, topic, asked)
      if (typeof end === 'string') return { partition, errorCode: errorCode(end) }
      return { partition, errorCode: 0, leaderEpoch: end?.epoch ?? -1, endOffset: end?.endOffset ?? -1 }
    }),
  })),
}))

function endOf(
  broker: BrokerServices,
  topic: string,
  asked: Asked,
): { readonly epoch: number; readonly endOffset: number } | null | ErrorName {
  const partition = hostedPartition(broker, topic, asked.partition)
  if (typeof partition === 'string') return partition
  const access = partition.logFor(asked.currentLeaderEpoch)
  return access.kind === 'refused' ? access.error : access.log.endOffsetForEpoch(asked.leaderEpoch)
}
