/** DescribeLogDirs v0-4: which directories there are, and how much of which partitions lies in each. v4: how full they are (KIP-827). */
import type { Log } from '@mq/log'
import { type DescribeLogDirsRequest, type DescribeLogDirsResponse, errorCode, type Input } from '@mq/protocol'
import type { BrokerServices } from '../services.js'
import { handler } from './handler.js'

type Result = NonNullable<Input<typeof DescribeLogDirsResponse>['results']>[number]
type TopicResult = NonNullable<Result['topics']>[number]

export const describeLogDirs = handler('DescribeLogDirs', { versions: '0-4' }, (request, { broker }) => {
  const { logs } = broker.partitions
  const isAskedFor = askedFor(request)
  const byDirectory = new Map<string, Log[]>()
  for (const log of logs.all()) {
    if (!isAskedFor(log)) continue
    const inDirectory = byDirectory.get(log.directory)
    if (inDirectory === undefined) byDirectory.set(log.directory, [log])
    else inDirectory.push(log)
  }
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    results: logs.directories.map(({ path, isOffline }) =>
      isOffline
        ? { errorCode: errorCode('KAFKA_STORAGE_ERROR'), logDir: path }
        : describe(broker, path, byDirectory.get(path) ?? []),
    ),
  }
})

/** Null means all, an empty list none. */
function askedFor({ topics }: DescribeLogDirsRequest): (log: Log) => boolean {
  if (topics === null) return () => true
  const asked = new Map(topics.map(({ topic, partitions }) => [topic, new Set(partitions)]))
  return ({ topicPartition: { topic, partition } }) => asked.get(topic)?.has(partition) === true
}

function describe(broker: BrokerServices, path: string, logs: readonly Log[]): Result {
  const topics = new Map<string, TopicResult['partitions'] & object[]>()
  for (const log of logs) {
    const { topic, partition } = log.topicPartition
    const partitions = topics.get(topic) ?? []
    topics.set(topic, partitions)
    partitions.push({
      partitionIndex: partition,
      partitionSize: log.sizeInBytes,
      // How far it is behind the leader that it is: a replica that moves between directories would be behind.
      offsetLag: Math.max(log.highWatermark - log.logEndOffset, 0),
      isFutureKey: false,
    })
  }
  return {
    errorCode: 0,
    logDir: path,
    topics: Array.from(topics, ([name, partitions]) => ({ name, partitions })),
    ...broker.partitions.logs.space(path),
  }
}
