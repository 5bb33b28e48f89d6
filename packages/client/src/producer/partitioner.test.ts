import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { defaultPartitioner, legacyMurmur2, legacyPartitioner, type PartitionMetadata } from './partitioner.js'

const kafkajs = createRequire(__filename)('kafkajs') as typeof import('kafkajs')
const partitions = (leaders: number[]): PartitionMetadata[] =>
  leaders.map((leader, partitionId) => ({ partitionErrorCode: 0, partitionId, leader, replicas: [1], isr: [1] }))
const keys = ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'order-81723', 'naïve café', '🦊🦊', 'x'.repeat(257)]

describe('the partitioner', () => {
  it('takes the partition that the message names', () => {
    const choose = defaultPartitioner(() => 0)()
    assert.equal(
      choose({ topic: 't', partitionMetadata: partitions([1, 1]), message: { value: null, key: 'k', partition: 7 } }),
      7,
    )
  })

  it('places keys as kafkajs and Java do', () => {
    const ours = defaultPartitioner(() => 0)()
    const theirs = kafkajs.Partitioners.DefaultPartitioner()
    for (const key of [...keys, Buffer.from([0xff, 0x80, 0x00])])
      for (const count of [1, 3, 50])
        assert.equal(
          ours({ topic: 't', partitionMetadata: partitions(Array(count).fill(1)), message: { value: null, key } }),
          theirs({ topic: 't', partitionMetadata: partitions(Array(count).fill(1)), message: { key, value: null } }),
          String(key),
        )
  })

  it('keeps the old hash of kafkajs 1.x for those who ask for it', () => {
    const ours = legacyPartitioner(() => 0)()
    const theirs = kafkajs.Partitioners.LegacyPartitioner()
    for (const key of [...keys, Buffer.from([0xff, 0x80, 0x00])]) {
      const partitionMetadata = partitions(Array(97).fill(1))
      assert.equal(
        ours({ topic: 't', partitionMetadata, message: { value: null, key } }),
        theirs({ topic: 't', partitionMetadata, message: { key, value: null } }),
      )
    }
    assert.notEqual(legacyMurmur2('order-81723') % 97, 0)
  })

  it('goes round the partitions that have a leader when there is no key', () => {
    const choose = defaultPartitioner(() => 4)()
    const turns = Array.from({ length: 6 }, () =>
      choose({ topic: 't', partitionMetadata: partitions([1, -1, 2, 3]), message: { value: null } }),
    )
    assert.deepEqual(turns, [3, 0, 2, 3, 0, 2])
  })

  it('still chooses one when no partition has a leader, and counts per topic', () => {
    const choose = defaultPartitioner(() => 0)()
    const partitionMetadata = partitions([-1, -1])
    assert.equal(choose({ topic: 'a', partitionMetadata, message: { value: null, key: null } }), 1)
    assert.equal(choose({ topic: 'b', partitionMetadata, message: { value: null, key: null } }), 1)
    assert.equal(choose({ topic: 'a', partitionMetadata, message: { value: null, key: null } }), 0)
  })
})
