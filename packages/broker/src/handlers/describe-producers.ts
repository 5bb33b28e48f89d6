/** DescribeProducers v0 (KIP-664): the producers that partitions remember, with their open transactions. */
import { type DescribeProducersResponse, ERRORS, type ErrorName, errorCode, type Input } from '@mq/protocol'
import { answerMessage } from '../answer-message.js'
import type { BrokerServices } from '../services.js'
import { topicNameProblem } from '../topic-name.js'
import { handler } from './handler.js'
import { hostedPartition } from './hosted-partition.js'

type Response = Input<typeof DescribeProducersResponse>
type PartitionResponse = NonNullable<NonNullable<Response['topics']>[number]['partitions']>[number]

export const describeProducers = handler('DescribeProducers', { versions: '0' }, (request, { broker }) => ({
  throttleTimeMs: 0,
  topics: request.topics.map(({ name, partitionIndexes }) => {
    const wrong = problemOf(broker, name)
    return {
      name,
      partitions: partitionIndexes.map((partitionIndex) =>
        wrong === null ? describe(broker, name, partitionIndex) : { partitionIndex, ...wrong },
      ),
    }
  }),
}))

/** What concerns the whole topic, with a reason. */
function problemOf(broker: BrokerServices, topic: string): { errorCode: number; errorMessage: string } | null {
  const invalid = topicNameProblem(topic)
  if (invalid !== null) return { errorCode: errorCode('INVALID_TOPIC_EXCEPTION'), errorMessage: answerMessage(invalid) }
  if (broker.controller.image().topic(topic) !== undefined) return null
  const error = 'UNKNOWN_TOPIC_OR_PARTITION'
  return { errorCode: errorCode(error), errorMessage: ERRORS[error].meaning }
}

function describe(broker: BrokerServices, topic: string, partitionIndex: number): PartitionResponse {
  const refuse = (error: ErrorName): PartitionResponse => ({ partitionIndex, errorCode: errorCode(error), errorMessage: null })
  const partition = hostedPartition(broker, topic, partitionIndex)
  if (typeof partition === 'string') return refuse(partition)
  const access = partition.logFor(-1)
  if (access.kind === 'refused') return refuse(access.error)
  return {
    partitionIndex,
    errorCode: 0,
    activeProducers: access.log.producers().map((producer) => ({
      producerId: producer.producerId,
      producerEpoch: producer.producerEpoch,
      lastSequence: producer.lastSequence,
      lastTimestamp: producer.lastTimestamp,
      coordinatorEpoch: producer.coordinatorEpoch,
      currentTxnStartOffset: producer.currentTransactionFirstOffset,
    })),
  }
}
