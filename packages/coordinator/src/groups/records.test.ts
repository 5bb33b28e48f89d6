import assert from 'node:assert/strict'
import {
  BatchBuilder,
  encodeVersioned,
  endTransactionMarker,
  GroupMetadataKey,
  MessageSetBuilder,
  RecordBatch,
  valuesOf,
} from '@mq/protocol'
import { vectors } from '../../../../conformance/index.js'
import { COORDINATOR_CONFIG } from '../config.js'
import { SILENT } from '../runtime/ports.js'
import { ManualTime, MemoryPartition, SeededRandom } from '../testing.js'
import { Groups } from './groups.js'
import { decodeRecord, encodeRecord, type StoredGroup } from './records.js'

interface GivenRecord {
  readonly partition: string
  readonly offset: number
  readonly timestamp: number
  readonly keyHex: string
  readonly valueHex: string | null
  /** Control records have none that is decoded. */
  readonly key?: { readonly schema: string; readonly version: number }
}

interface GivenGroup {
  readonly state: string
  readonly offsets: Readonly<
    Record<string, { readonly offset: number; readonly metadata: string; readonly leaderEpoch: number | null }>
  >
}

const given = vectors.json<GivenRecord[]>('datadirs/main/clean.internal-topics.json')
const isOfGroups = (schema?: string) => schema === 'OffsetCommitKey' || schema === 'GroupMetadataKey'
const records = given.filter(({ key }) => isOfGroups(key?.schema))
const bytes = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, 'hex'))

function assemble(time: ManualTime, count = 3, config: Partial<Record<string, number>> = {}) {
  const groups = new Groups({
    config: valuesOf(COORDINATOR_CONFIG, config),
    clock: time,
    timers: time,
    random: new SeededRandom(1),
    logger: SILENT,
    partitionCount: () => count,
  })
  return { groups, partitions: Array.from({ length: count }, (_, i) => new MemoryPartition(i)) }
}

describe('records of groups', () => {
  it('are those that a Java broker wrote, byte for byte', () => {
    assert.ok(records.length > 20)
    for (const { keyHex, valueHex, offset, partition } of records) {
      const decoded = decodeRecord(bytes(keyHex), bytes(valueHex))
      assert.notEqual(decoded.kind, 'unreadable', `${partition} ${offset}`)
      const encoded = encodeRecord(decoded as Exclude<typeof decoded, { kind: 'unreadable' }>)
      assert.equal(encoded.key.toString('hex'), keyHex)
      assert.equal(encoded.value?.toString('hex') ?? null, valueHex)
    }
  })

  it('of a real broker give its groups and offsets', async () => {
    const expected = vectors.json<{ readonly groups: Readonly<Record<string, GivenGroup>> }>(
      'datadirs/main/clean.expected.json',
    ).groups
    const { logs, remove } = vectors.extractDatadir('main/clean')
    const { readdirSync, readFileSync } = await import('node:fs')
    try {
      // The clock stands at the last record: later offsets would have expired.
      const { groups, partitions } = assemble(new ManualTime(Math.max(...given.map(({ timestamp }) => timestamp))))
      for (const partition of partitions) {
        const folder = `${logs}/__consumer_offsets-${partition.partition}`
        for (const file of readdirSync(folder).filter((name) => name.endsWith('.log'))) {
          const segment = readFileSync(`${folder}/${file}`)
          for (let at = 0; at < segment.length; ) {
            const batch = new RecordBatch(segment, at)
            partition.plant(batch.slice())
            at += batch.sizeInBytes
          }
        }
        await groups.load(partition)
      }
      assert.ok(Object.keys(expected).length >= 5)
      for (const [groupId, { state, offsets }] of Object.entries(expected)) {
        assert.equal(groups.describe(groupId).groupState, state, groupId)
        const fetched = groups.fetchOffsets({ groupId, topics: null, requireStable: false })
        const found = fetched.topics.flatMap(({ name, partitions: ps }) =>
          ps.map((p) => [
            `${name}-${p.partitionIndex}`,
            {
              offset: p.committedOffset,
              metadata: p.metadata,
              leaderEpoch: p.committedLeaderEpoch === -1 ? null : p.committedLeaderEpoch,
            },
          ]),
        )
        assert.deepEqual(Object.fromEntries(found), offsets, groupId)
      }
      const listed = groups.list({ states: [], types: [] })
      assert.equal(listed.errorCode, 0)
      assert.deepEqual(listed.groups.map(({ groupId }) => groupId).sort(), Object.keys(expected).sort())
      groups.close()
    } finally {
      remove()
    }
  })

  it('of unknown versions and damaged ones are told apart', () => {
    const unreadable = (key: Buffer | null, value: Buffer | null) => {
      const decoded = decodeRecord(key, value)
      assert.equal(decoded.kind, 'unreadable')
      return (decoded as { reason: string }).reason
    }
    assert.match(unreadable(null, null), /no key/)
    assert.match(unreadable(Buffer.from([0]), null), /no key/)
    assert.match(unreadable(Buffer.from([0, 3, 0, 0]), null), /version 3/)
    assert.match(unreadable(Buffer.from([0xff, 0xff]), null), /version -1/)
    const key = encodeVersioned(GroupMetadataKey, 2, { group: 'g' })
    unreadable(key, Buffer.from([0, 9, 0]))
    unreadable(key, Buffer.from([0, 3, 0, 8, 1]))
    unreadable(key.subarray(0, 3), null)
    unreadable(Buffer.from([0, 1, 0, 1]), Buffer.from([0, 3]))
    assert.deepEqual(decodeRecord(key, null), { kind: 'groupDeleted', groupId: 'g' })
  })

  it('take every old version', () => {
    const group: StoredGroup = {
      protocolType: 'consumer',
      generation: 3,
      protocol: 'range',
      leader: 'm',
      currentStateTimestamp: -1,
      members: [
        {
          memberId: 'm',
          groupInstanceId: null,
          clientId: 'c',
          clientHost: '/1.2.3.4',
          rebalanceTimeout: 7,
          sessionTimeout: 7,
          subscription: Buffer.from('s'),
          assignment: Buffer.from('a'),
        },
      ],
    }
    const { value } = encodeRecord({ kind: 'groupStored', groupId: 'g', value: group })
    const key = encodeVersioned(GroupMetadataKey, 2, { group: 'g' })
    assert.deepEqual(decodeRecord(key, value), { kind: 'groupStored', groupId: 'g', value: group })
    // Version 0 has neither a rebalance timeout nor a state timestamp: the session timeout counts.
    const v0 = Buffer.concat([
      Buffer.from([0, 0, 0, 8]),
      Buffer.from('consumer'),
      Buffer.from([0, 0, 0, 3, 0, 5]),
      Buffer.from('range'),
      Buffer.from([0, 1]),
      Buffer.from('m'),
      Buffer.from([0, 0, 0, 1, 0, 1]),
      Buffer.from('m'),
      Buffer.from([0, 1]),
      Buffer.from('c'),
      Buffer.from([0, 8]),
      Buffer.from('/1.2.3.4'),
      Buffer.from([0, 0, 0, 7, 0, 0, 0, 1]),
      Buffer.from('s'),
      Buffer.from([0, 0, 0, 1]),
      Buffer.from('a'),
    ])
    assert.deepEqual(decodeRecord(key, v0), { kind: 'groupStored', groupId: 'g', value: group })
  })
})

describe('loading groups', () => {
  const batchOf = (entries: readonly { key: Buffer; value: Buffer | null }[], options = {}) => {
    const builder = new BatchBuilder(options)
    for (const entry of entries) builder.tryAppend({ timestamp: 0, ...entry })
    return builder.build()
  }
  const committed = (offset: number, topic = 't') =>
    encodeRecord({
      kind: 'offsetCommitted',
      groupId: 'g',
      topic,
      partition: 0,
      value: { offset, leaderEpoch: -1, metadata: '', commitTimestamp: 1_700_000_000_000, expireTimestamp: null },
    })
  const fetch = (groups: Groups, topic = 't', requireStable = false) =>
    groups.fetchOffsets({ groupId: 'g', topics: [{ name: topic, partitionIndexes: [0] }], requireStable }).topics[0]!
      .partitions[0]!

  it('keeps what a transaction staged back until it ends, and by the order of the log after that (A-044)', async () => {
    const time = new ManualTime()
    const { groups, partitions } = assemble(time, 1)
    const port = partitions[0]!
    const inTransaction = (producerId: number) => ({ producerId, producerEpoch: 0, baseSequence: 0, transactional: true })
    const end = (producerId: number, commit: boolean) =>
      endTransactionMarker({ producerId, producerEpoch: 0, commit, coordinatorEpoch: 0, timestamp: 0 })
    port.plant(batchOf([committed(10)]))
    port.plant(batchOf([committed(50)], inTransaction(7)))
    port.plant(batchOf([committed(60, 'aborted')], inTransaction(8)))
    port.plant(batchOf([committed(70, 'open')], inTransaction(9)))
    port.plant(end(7, true))
    port.plant(end(8, false))
    port.plant(batchOf([committed(5, 'overtaken')], inTransaction(10)))
    port.plant(batchOf([committed(6, 'overtaken')]))
    port.plant(end(10, true))
    await groups.load(port)
    assert.equal(fetch(groups).committedOffset, 50)
    assert.equal(fetch(groups, 'aborted').committedOffset, -1)
    assert.equal(fetch(groups, 'open').committedOffset, -1)
    assert.equal(fetch(groups, 'open', true).errorCode, 88)
    assert.equal(fetch(groups, 't', true).committedOffset, 50)
    assert.equal(fetch(groups, 'overtaken').committedOffset, 6)
    // Retention takes what is committed; what is staged keeps the group alive.
    await time.advance(8 * 24 * 3600 * 1000)
    assert.equal(fetch(groups).committedOffset, -1)
    assert.equal(fetch(groups, 'open', true).errorCode, 88)
    assert.equal(groups.describe('g').groupState, 'Empty')
    port.plant(end(9, true))
    groups.unload(0)
    await groups.load(port)
    assert.equal(fetch(groups, 'open', true).committedOffset, 70)
    groups.close()
  })

  it('loads a group of a thousand members with megabytes of metadata (A-040)', async () => {
    const { groups, partitions } = assemble(new ManualTime(), 1)
    const members = Array.from({ length: 1000 }, (_, i) => ({
      memberId: `member-${i}`,
      groupInstanceId: i % 2 ? `instance-${i}` : null,
      clientId: 'c',
      clientHost: '/127.0.0.1',
      rebalanceTimeout: 60_000,
      sessionTimeout: 10_000,
      subscription: Buffer.alloc(1000, i),
      assignment: Buffer.alloc(1100, i),
    }))
    const value = {
      protocolType: 'consumer',
      generation: 4,
      protocol: 'range',
      leader: 'member-0',
      currentStateTimestamp: 0,
      members,
    }
    const record = encodeRecord({ kind: 'groupStored', groupId: 'g', value })
    assert.ok(record.value!.length > 2_000_000)
    partitions[0]!.plant(batchOf([record]))
    await groups.load(partitions[0]!)
    const beat = (memberId: string, groupInstanceId: string | null) =>
      groups.run('g', { kind: 'heartbeat', groupId: 'g', memberId, groupInstanceId, generationId: 4 })
    assert.equal((await beat('member-0', null)).errorCode, 0)
    assert.equal((await beat('member-999', 'instance-999')).errorCode, 0)
    assert.equal((await beat('member-998', 'instance-999')).errorCode, 82)
    assert.equal(groups.describe('g').members.length, 1000)
    groups.close()
  })

  it('answers that it is loading until it has loaded, as each API may say it (F47)', async () => {
    const time = new ManualTime()
    const { groups, partitions } = assemble(time, 1)
    const port = partitions[0]!
    port.plant(batchOf([committed(42)]))
    port.readFailure = new Error('not yet')
    await groups.load(port)
    assert.equal(groups.isLoading, true)
    assert.equal(groups.fetchOffsets({ groupId: 'g', topics: null, requireStable: true }).errorCode, 14)
    assert.equal(groups.describe('g').errorCode, 14)
    assert.equal(groups.list({ states: [], types: [] }).errorCode, 14)
    const speaker = { groupId: 'g', memberId: 'm', groupInstanceId: null, generationId: 1 }
    assert.equal((await groups.run('g', { kind: 'heartbeat', ...speaker })).errorCode, 0)
    const sync = { kind: 'sync', ...speaker, protocolType: null, protocolName: null, assignments: [] } as const
    assert.equal((await groups.run('g', sync)).errorCode, 27)
    assert.equal((await groups.run('g', { kind: 'leave', groupId: 'g', members: [] })).errorCode, 14)
    await time.advance(100)
    assert.equal(fetch(groups).committedOffset, 42)
    groups.unload(0)
    assert.equal(groups.fetchOffsets({ groupId: 'g', topics: null, requireStable: true }).errorCode, 16)
    assert.equal((await groups.run('g', { kind: 'heartbeat', ...speaker })).errorCode, 16)
    assert.equal((await groups.run('', { kind: 'heartbeat', ...speaker, groupId: '' })).errorCode, 24)
    groups.close()
    assert.equal((await groups.run('g', { kind: 'heartbeat', ...speaker })).errorCode, 15)
    assert.equal(groups.list({ states: [], types: [] }).errorCode, 15)
  })

  it('keeps offsets from before the adoption of a directory for a whole retention time', async () => {
    const time = new ManualTime(1_800_000_000_000)
    const day = 24 * 3600 * 1000
    const adoptedAt = time.now()
    const groups = new Groups({
      config: valuesOf(COORDINATOR_CONFIG),
      clock: time,
      timers: time,
      random: new SeededRandom(1),
      logger: SILENT,
      partitionCount: () => 1,
      offsetsExpireNotBefore: () => adoptedAt,
    })
    const port = new MemoryPartition(0)
    port.plant(batchOf([committed(42)])) // committed in 2023
    await groups.load(port)
    await time.advance(6.9 * day)
    assert.equal(fetch(groups).committedOffset, 42)
    await time.advance(0.2 * day)
    assert.equal(fetch(groups).committedOffset, -1)
    groups.close()
  })

  it('reads logs of the old formats, compressed wrappers too', async () => {
    const { groups, partitions } = assemble(new ManualTime(), 1)
    const port = partitions[0]!
    for (const [magic, codec, topic] of [
      [0, 'none', 'a'],
      [1, 'gzip', 'b'],
    ] as const) {
      const builder = new MessageSetBuilder({ magic, codec })
      builder.append({ offset: 0, timestamp: 0, ...committed(11, topic) })
      builder.append({ offset: 1, timestamp: 0, ...committed(12, topic) })
      port.batches.push(builder.build())
    }
    port.plant(batchOf([committed(13, 'c')]))
    await groups.load(port)
    assert.deepEqual(
      ['a', 'b', 'c'].map((topic) => fetch(groups, topic).committedOffset),
      [12, 12, 13],
    )
    groups.close()
  })

  it('compresses its batches when it is told to', async () => {
    const { groups, partitions } = assemble(new ManualTime(), 1, { 'offsets.topic.compression.codec': 1 })
    const port = partitions[0]!
    await groups.load(port)
    const partition = {
      partitionIndex: 0,
      committedOffset: 9,
      committedLeaderEpoch: -1,
      committedMetadata: '',
      commitTimestamp: -1,
    }
    const topics = [{ name: 't', partitions: [partition] }]
    const anybody = { groupId: 'g', memberId: '', groupInstanceId: null, generationId: -1, retentionTimeMs: -1 }
    await groups.run('g', { kind: 'commitOffsets', ...anybody, topics })
    assert.equal(new RecordBatch(port.batches[0]!).codec, 1)
    groups.unload(0)
    await groups.load(port)
    assert.equal(fetch(groups).committedOffset, 9)
    groups.close()
    assert.throws(() => assemble(new ManualTime(), 1, { 'offsets.topic.compression.codec': 7 }), RangeError)
  })

  it('begins a round for a group that has more members than it may have now', async () => {
    const time = new ManualTime()
    const { groups, partitions } = assemble(time, 1, { 'group.max.size': 1 })
    const member = (memberId: string) => ({
      memberId,
      groupInstanceId: null,
      clientId: 'c',
      clientHost: '/127.0.0.1',
      rebalanceTimeout: 5000,
      sessionTimeout: 60_000,
      subscription: Buffer.alloc(0),
      assignment: Buffer.alloc(0),
    })
    const value = {
      protocolType: 'connect',
      generation: 4,
      protocol: 'p',
      leader: 'a',
      currentStateTimestamp: 0,
      members: [member('a'), member('b')],
    }
    partitions[0]!.plant(batchOf([encodeRecord({ kind: 'groupStored', groupId: 'g', value })]))
    await groups.load(partitions[0]!)
    assert.equal(groups.describe('g').groupState, 'PreparingRebalance')
    await time.advance(5000)
    groups.close()
  })
})
