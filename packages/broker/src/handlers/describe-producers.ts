/** DescribeProducers v0 (KIP-664): the producers that partitions remember, with their open transactions. */
import { type DescribeProducersResponse, type ErrorName, errorCode, type Input } from '@mq/protocol'
import type { BrokerServices } from '../services.js'
import { handler } from './handler.js'
import { hostedPartition } from './hosted-partition.js'

type Response = Input<typeof DescribeProducersResponse>
type PartitionResponse = NonNullable<NonNullable<Response['topics']>[number]['partitions']>[number]

export const describeProducers = handler('DescribeProducers', { versions: '0' }, (request, { broker }) => ({
  throttleTimeMs: 0,
  topics: request.topics.map(({ name, partitionIndexes }) => ({
    name,
    partitions: partitionIndexes.map((partitionIndex) => describe(broker, name, partitionIndex)),
  })),
}))

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
