import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { dealOut, roundRobin } from './assign-round-robin.js'
import { AssignerProtocol } from './assigner-protocol.js'

const kafkajs = createRequire(__filename)('kafkajs') as typeof import('kafkajs')
const cluster = { findTopicPartitionMetadata: () => Array.from({ length: 10 }, (_, partitionId) => ({ partitionId })) }

describe('the round robin assigner', () => {
  it('gives three members of ten partitions 0,3,6,9 and 1,4,7 and 2,5,8', () => {
    const partitions = Array.from({ length: 10 }, (_, partition) => ({ topic: 't', partition }))
    const dealt = dealOut(
      ['c', 'a', 'b'].map((memberId) => ({ memberId, topics: ['t'] })),
      partitions,
    )
    assert.deepEqual({ ...dealt.get('a') }, { t: [0, 3, 6, 9] })
    assert.deepEqual({ ...dealt.get('b') }, { t: [1, 4, 7] })
    assert.deepEqual({ ...dealt.get('c') }, { t: [2, 5, 8] })
  })

  it('gives a topic only to those who subscribe to it', () => {
    const partitions = [
      { topic: 't', partition: 0 },
      { topic: 't', partition: 1 },
      { topic: 'u', partition: 0 },
      { topic: 'nobody', partition: 0 },
    ]
    const dealt = dealOut(
      [
        { memberId: 'a', topics: ['t'] },
        { memberId: 'b', topics: ['t', 'u'] },
      ],
      partitions,
    )
    assert.deepEqual({ ...dealt.get('a') }, { t: [0] })
    assert.deepEqual({ ...dealt.get('b') }, { t: [1], u: [0] })
  })

  it('writes the bytes that kafkajs writes', async () => {
    const ours = roundRobin({ cluster, groupId: 'g', logger: undefined as never })
    const theirs = kafkajs.PartitionAssigners.roundRobin({ cluster: cluster as never, groupId: 'g', logger: undefined as never })
    assert.equal(ours.name, theirs.name)
    assert.deepEqual(ours.protocol({ topics: ['t', 'u'] }), theirs.protocol({ topics: ['t', 'u'] }))
    const members = ['m2', 'm1'].map((memberId) => ({ memberId, memberMetadata: ours.protocol({ topics: ['t', 'u'] }).metadata }))
    assert.deepEqual(await ours.assign({ members, topics: ['t', 'u'] }), await theirs.assign({ members, topics: ['t', 'u'] }))
  })

  it('reads its own bytes, and null where a member got nothing', () => {
    const assignment = { version: 1, assignment: { t: [0, 2], ü: [] }, userData: Buffer.from('x') }
    assert.deepEqual(AssignerProtocol.MemberAssignment.decode(AssignerProtocol.MemberAssignment.encode(assignment)), assignment)
    assert.equal(AssignerProtocol.MemberAssignment.decode(Buffer.alloc(0)), null)
    const metadata = { version: 0, topics: ['a', 'b'], userData: Buffer.alloc(0) }
    assert.deepEqual(AssignerProtocol.MemberMetadata.decode(AssignerProtocol.MemberMetadata.encode(metadata)), metadata)
  })

  it('reads later versions, which append fields', () => {
    const later = Buffer.concat([
      AssignerProtocol.MemberMetadata.encode({ version: 3, topics: ['t'] }),
      Buffer.from('00000000ffffffff', 'hex'),
    ])
    assert.deepEqual(AssignerProtocol.MemberMetadata.decode(later)?.topics, ['t'])
  })

  it('refuses lengths that the bytes cannot hold', () => {
    assert.throws(
      () => AssignerProtocol.MemberAssignment.decode(Buffer.from('00007fffffff', 'hex')),
      /announced 2147483647 entries/,
    )
  })
})
