import assert from 'node:assert/strict'
import { BatchBuilder, errorByCode, valuesOf } from '@mq/protocol'
import { COORDINATOR_CONFIG } from '../config.js'
import { SILENT } from '../runtime/ports.js'
import { ManualTime, MemoryPartition, SeededRandom, settled } from '../testing.js'
import type { JoinReply } from './commands.js'
import { Groups } from './groups.js'
import { encodeRecord } from './records.js'

async function assemble(partition = new MemoryPartition(0)) {
  const time = new ManualTime()
  const groups = new Groups({
    config: valuesOf(COORDINATOR_CONFIG, { 'group.initial.rebalance.delay.ms': 0 }),
    clock: time,
    timers: time,
    random: new SeededRandom(3),
    logger: SILENT,
    partitionCount: () => 1,
  })
  await groups.load(partition)
  const listeners = new Map<string, () => void>()
  const join = (clientId: string, change: object = {}) => {
    const request = {
      kind: 'join' as const,
      groupId: 'g',
      memberId: '',
      groupInstanceId: null,
      clientId,
      clientHost: '/127.0.0.1',
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 60_000,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
      reason: null,
      requiresKnownMemberId: false,
      supportsSkippingAssignment: false,
      ...change,
    }
    return groups.run('g', request, (gone) => {
      listeners.set(clientId, gone)
      return () => listeners.delete(clientId)
    })
  }
  const sync = ({ memberId, generationId }: JoinReply) =>
    groups.run('g', {
      kind: 'sync',
      groupId: 'g',
      memberId,
      groupInstanceId: null,
      generationId,
      protocolType: null,
      protocolName: null,
      assignments: [{ memberId, assignment: Buffer.from('all') }],
    })
  return { time, groups, join, sync, listeners }
}

describe('the front of the groups', () => {
  it('does not wait for a newcomer whose connection ended before it heard its id', async () => {
    const { groups, join, sync, listeners } = await assemble()
    const first = await join('first')
    await sync(first)
    const lost = join('lost')
    const second = join('second')
    await settled()
    assert.equal(groups.describe('g').members.length, 3)
    listeners.get('lost')!()
    assert.equal(errorByCode((await lost).errorCode), 'UNKNOWN_MEMBER_ID')
    assert.equal(groups.describe('g').members.length, 2)
    // The round ends as soon as everybody who can still speak is in.
    const again = join('first', { memberId: first.memberId })
    assert.equal((await again).generationId, 2)
    assert.equal((await second).generationId, 2)
    assert.equal(listeners.size, 0)
    groups.close()
  })

  it('waits for those who know their id: they may come back by another connection', async () => {
    const { groups, join, sync, listeners } = await assemble()
    const first = await join('first')
    await sync(first)
    const { memberId } = await join('known', { requiresKnownMemberId: true })
    const waiting = join('known', { memberId, requiresKnownMemberId: true })
    await settled()
    assert.equal(listeners.size, 0)
    const again = join('known', { memberId, requiresKnownMemberId: true })
    assert.equal(errorByCode((await waiting).errorCode), 'REBALANCE_IN_PROGRESS')
    await join('first', { memberId: first.memberId })
    assert.deepEqual([errorByCode((await again).errorCode), (await again).memberId], ['NONE', memberId])
    groups.close()
  })

  it('names members by client or instance, and by something that no other has', async () => {
    const { groups, join } = await assemble()
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    const { memberId } = await join('me')
    assert.ok(memberId.startsWith('me-') && uuid.test(memberId.slice(3)), memberId)
    groups.close()
    const other = await assemble()
    const fixed = await other.join('me', { groupInstanceId: 'desk' })
    assert.ok(fixed.memberId.startsWith('desk-') && uuid.test(fixed.memberId.slice(5)), fixed.memberId)
    other.groups.close()
  })

  it('stores offsets that their client wants kept for ever', async () => {
    const { groups } = await assemble()
    const partition = {
      partitionIndex: 0,
      committedOffset: 7,
      committedLeaderEpoch: -1,
      committedMetadata: '',
      commitTimestamp: -1,
    }
    const { topics } = await groups.run('g', {
      kind: 'commitOffsets',
      groupId: 'g',
      memberId: '',
      groupInstanceId: null,
      generationId: -1,
      retentionTimeMs: Number.MAX_SAFE_INTEGER,
      topics: [{ name: 't', partitions: [partition] }],
    })
    assert.equal(errorByCode(topics[0]!.partitions[0]!.errorCode), 'NONE')
    const fetched = groups.fetchOffsets({ groupId: 'g', topics: null, requireStable: false })
    assert.equal(fetched.topics[0]?.partitions[0]?.committedOffset, 7)
    groups.close()
  })

  it('buries many empty groups in batches that the log takes', async () => {
    const partition = new MemoryPartition(0)
    const empty = { protocolType: 'consumer', generation: 1, protocol: null, leader: null, currentStateTimestamp: 0, members: [] }
    for (let i = 0; i < 100; i++) {
      const builder = new BatchBuilder()
      const groupId = `${i} ${'long'.repeat(5000)}`
      builder.tryAppend({ timestamp: 0, ...encodeRecord({ kind: 'groupStored', groupId, value: empty }) })
      partition.plant(builder.build())
    }
    const { groups, time } = await assemble(partition)
    const planted = partition.batches.length
    assert.equal(groups.list({ states: [], types: [] }).groups.length, 100)
    await time.advance(600_000)
    assert.deepEqual(groups.list({ states: [], types: [] }).groups, [])
    const written = partition.batches.slice(planted).map((batch) => batch.length)
    assert.ok(written.length > 1 && Math.max(...written) < 512 * 1024, String(written))
    groups.close()
  })
})
