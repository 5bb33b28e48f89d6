import assert from 'node:assert/strict'
import * as kafkajs from 'kafkajs'
import * as ours from '../index.js'

/** Calls that kafkajs refuses before it asks any broker. */
const REFUSED: [method: string, ...args: unknown[]][] = [
  ['createTopics', { topics: null }],
  ['createTopics', { topics: 't' }],
  ['createTopics', { topics: [{ topic: 5 }] }],
  ['createTopics', { topics: [{ topic: 't' }, { topic: 't' }] }],
  ['createTopics', { topics: [{ topic: 't', configEntries: 'a' }] }],
  ['createTopics', { topics: [{ topic: 't', configEntries: ['a'] }] }],
  ['createTopics', { topics: [{ topic: 't', configEntries: [{ name: 'a' }] }] }],
  ['createTopics', { topics: [{ topic: 't', configEntries: [{ name: 'a', value: 1 }] }] }],
  ['deleteTopics', { topics: undefined }],
  ['deleteTopics', { topics: [1] }],
  ['createPartitions', { topicPartitions: 1 }],
  ['createPartitions', { topicPartitions: [] }],
  ['createPartitions', { topicPartitions: [{ topic: null }] }],
  ['createPartitions', { topicPartitions: [{ topic: 't' }, { topic: 't' }] }],
  ['fetchTopicOffsets', ''],
  ['fetchTopicOffsetsByTimestamp', 7],
  ['fetchOffsets', { groupId: '' }],
  ['resetOffsets', { groupId: '', topic: 't' }],
  ['resetOffsets', { groupId: 'g' }],
  ['setOffsets', { groupId: 'g', topic: 't', partitions: [] }],
  ['describeConfigs', { resources: null }],
  ['describeConfigs', { resources: [] }],
  ['describeConfigs', { resources: [{ type: 99, name: 't' }] }],
  ['describeConfigs', { resources: [{ type: 2, name: '' }] }],
  ['describeConfigs', { resources: [{ type: 2, name: 't', configNames: 'all' }] }],
  ['alterConfigs', { resources: [{ type: 2, name: 't', configEntries: 'a' }] }],
  ['alterConfigs', { resources: [{ type: 2, name: 't', configEntries: [{ name: 'a', value: 1 }] }] }],
  ['deleteGroups', 'g'],
  ['deleteTopicRecords', { topic: '' }],
  ['deleteTopicRecords', { topic: 't', partitions: [] }],
]

describe('the admin', () => {
  const config = { brokers: ['127.0.0.1:1'], logLevel: 0 as never }
  const oneOf = (client: typeof ours | typeof kafkajs) => new client.Kafka(config).admin() as never
  const refusalOf = async (admin: Record<string, (...args: unknown[]) => Promise<unknown>>, method: string, args: unknown[]) => {
    try {
      await admin[method]!(...args)
    } catch (error) {
      const { name, message } = error as Error
      return { name, message }
    }
    return undefined
  }

  for (const [method, ...args] of REFUSED)
    it(`refuses ${method}(${JSON.stringify(args).slice(1, -1)}) as kafkajs does`, async () => {
      const theirs = await refusalOf(oneOf(kafkajs), method, args)
      assert.ok(theirs)
      assert.deepEqual(await refusalOf(oneOf(ours), method, args), theirs)
    })
})
