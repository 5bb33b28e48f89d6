/** DeleteRecords v0-2: moves the start of partitions forward. v2 flexible. Offset -1 is the high watermark. */
import { type DeleteRecordsResponse, type ErrorName, errorCode, type Input } from '@mq/protocol'
import type { BrokerServices } from '../services.js'
import { handler } from './handler.js'
import { hostedPartition } from './hosted-partition.js'
import { isInternalTopic } from './internal-topics.js'

type TopicResult = NonNullable<Input<typeof DeleteRecordsResponse>['topics']>[number]

export const deleteRecords = handler('DeleteRecords', { versions: '0-2' }, async (request, context) => {
  const topics: TopicResult[] = []
  for (const { name, partitions } of request.topics) {
    const results = []
    for (const { partitionIndex, offset } of partitions) {
      const deleted = await deleteBefore(context.broker, name, partitionIndex, offset)
      results.push(
        typeof deleted === 'number'
          ? { partitionIndex, lowWatermark: deleted, errorCode: 0 }
          : { partitionIndex, lowWatermark: -1, errorCode: errorCode(deleted) },
      )
    }
    topics.push({ name, partitions: results })
  }
  return { throttleTimeMs: 0, topics }
})

/** The new low watermark, or why not. */
async function deleteBefore(broker: BrokerServices, topic: string, index: number, offset: number): Promise<number | ErrorName> {
  const partition = hostedPartition(broker, topic, index)
  if (partition === 'UNKNOWN_TOPIC_OR_PARTITION') return partition
  if (isInternalTopic(topic)) return 'INVALID_TOPIC_EXCEPTION'
  if (typeof partition === 'string') return partition
  const result = await partition.deleteRecordsBefore(offset)
  return result.kind === 'deleted' ? result.lowWatermark : result.error
}
