/**
 * Good and odd requests to the data plane, one after the other. Played once against Apache Kafka 3.9.1, whose answers are
 * kept beside this file, and in the tests against ours: both have to say the same.
 */
import { BatchBuilder, type BatchOptions, crc32, iterateAnyBatches, MessageSetBuilder, RECORD_BATCH } from '@mq/protocol'

/** Topics that must be there, with one partition where nothing else is said. */
export const TOPICS: readonly { name: string; partitions: number; configs: Readonly<Record<string, string>> }[] = [
  { name: 'plain', partitions: 3, configs: {} },
  { name: 'sessions', partitions: 4, configs: {} },
  { name: 'old', partitions: 1, configs: {} },
  { name: 'limits', partitions: 3, configs: {} },
  { name: 'compacted', partitions: 1, configs: { 'cleanup.policy': 'compact' } },
  { name: 'stored-zstd', partitions: 1, configs: { 'compression.type': 'zstd' } },
  { name: 'no-down', partitions: 1, configs: { 'message.downconversion.enable': 'false' } },
  { name: 'append-time', partitions: 1, configs: { 'message.timestamp.type': 'LogAppendTime' } },
  { name: 'tiny', partitions: 1, configs: { 'max.message.bytes': '200' } },
  { name: 'rolled', partitions: 1, configs: { 'segment.bytes': '300' } },
  { name: 'min-isr', partitions: 1, configs: { 'min.insync.replicas': '2' } },
  { name: '__consumer_offsets', partitions: 1, configs: { 'cleanup.policy': 'compact' } },
]

export type Play = (label: string, api: string, version: number, body: object) => Promise<unknown>

export interface World {
  /** Sends, and keeps what came under the label. `'closed'` if the connection was closed, `'nothing'` if acks=0 went well. */
  ask: Play
  topicId(name: string): string
}

const TIME = 1_700_000_000_000

export function batch(count: number, options: BatchOptions & { size?: number; time?: number; key?: null } = {}): Buffer {
  const { size = 5, time = TIME, key, ...more } = options
  const builder = new BatchBuilder(more)
  for (let at = 0; at < count; at++) {
    const given = key === null ? null : `k${at}`
    builder.tryAppend({ timestamp: time + at, key: given, value: Buffer.alloc(size, 97 + (at % 26)) })
  }
  return builder.build()
}

const withCrc = (bytes: Buffer): Buffer => {
  RECORD_BATCH.crc.set(bytes, 0, crcOf(bytes))
  return bytes
}
const crcOf = (bytes: Buffer): number => {
  for (const found of iterateAnyBatches(bytes)) if ('computeCrc' in found) return (found as { computeCrc(): number }).computeCrc()
  return 0
}
const changed = (bytes: Buffer, change: (bytes: Buffer) => void): Buffer => {
  change(bytes)
  return bytes
}

function messages(magic: 0 | 1, count: number, codec?: 'gzip'): Buffer {
  const builder = new MessageSetBuilder(codec === undefined ? { magic } : { magic, codec })
  for (let at = 0; at < count; at++) {
    builder.append({
      offset: at,
      timestamp: magic === 0 ? -1 : TIME + at,
      key: Buffer.from(`k${at}`),
      value: Buffer.from(`v${at}`),
    })
  }
  return builder.build()
}

export async function play(world: World): Promise<void> {
  await produces(world)
  await oldFormats(world)
  await idempotence(world)
  await fetches(world)
  await limits(world)
  await sessions(world)
  await offsets(world)
  await deletions(world)
  await theRest(world)
}

type Parts = Readonly<Record<string, Readonly<Record<number, Buffer | null>>>>

const produceBody = (parts: Parts, acks = -1, transactionalId: string | null = null) => ({
  transactionalId,
  acks,
  timeoutMs: 1000,
  topicData: Object.entries(parts).map(([name, partitions]) => ({
    name,
    partitionData: Object.entries(partitions).map(([index, records]) => ({ index: Number(index), records })),
  })),
})

async function produces({ ask }: World): Promise<void> {
  for (let version = 3; version <= 11; version++) {
    await ask(`good v${version}`, 'Produce', version, produceBody({ plain: { 0: batch(2) } }))
  }
  for (const acks of [1, 2, -2, 99]) {
    await ask(`acks ${acks}`, 'Produce', 9, produceBody({ plain: { 0: batch(1) } }, acks))
  }
  await ask('acks 0 good', 'Produce', 9, produceBody({ plain: { 0: batch(1) } }, 0))
  await ask('acks 0 to an unknown topic', 'Produce', 9, produceBody({ nowhere: { 0: batch(1) } }, 0))
  await ask('unknown topic', 'Produce', 9, produceBody({ nowhere: { 0: batch(1) } }))
  await ask('acks 2 and an unknown topic', 'Produce', 9, produceBody({ nowhere: { 0: batch(1) }, plain: { 1: batch(1) } }, 2))
  await ask('partitions 99 and -1', 'Produce', 11, produceBody({ plain: { 99: batch(1), [-1]: batch(1) } }))
  await ask('internal topic', 'Produce', 9, produceBody({ __consumer_offsets: { 0: batch(1) } }))
  await ask('no topics', 'Produce', 9, produceBody({}))
  await ask('empty records', 'Produce', 9, produceBody({ plain: { 0: Buffer.alloc(0) } }))
  await ask('two batches', 'Produce', 9, produceBody({ plain: { 0: Buffer.concat([batch(1), batch(1)]) } }))
  await ask('magic 1 in v3', 'Produce', 3, produceBody({ plain: { 0: messages(1, 1) } }))
  const wrongCrc = () => changed(batch(2), (bytes) => RECORD_BATCH.crc.set(bytes, 0, 1))
  await ask('wrong CRC beside a good one', 'Produce', 9, produceBody({ plain: { 0: wrongCrc(), 1: batch(1) } }))
  await ask('zstd v6', 'Produce', 6, produceBody({ plain: { 0: batch(1, { codec: 'zstd' }) } }))
  await ask('zstd v7', 'Produce', 7, produceBody({ plain: { 2: batch(1, { codec: 'zstd' }) } }))
  for (const version of [7, 8]) {
    await ask(`too large v${version}`, 'Produce', version, produceBody({ tiny: { 0: batch(1, { size: 500 }) } }))
    await ask(
      `no key on a compacted topic v${version}`,
      'Produce',
      version,
      produceBody({ compacted: { 0: batch(2, { key: null }) } }),
    )
  }
  const wrongCount = () => withCrc(changed(batch(2), (bytes) => RECORD_BATCH.recordCount.set(bytes, 0, 3)))
  await ask('wrong count v8', 'Produce', 8, produceBody({ plain: { 0: wrongCount() } }))
  const baseOffset = () => changed(batch(2), (bytes) => RECORD_BATCH.baseOffset.set(bytes, 0, 77))
  await ask('base offset v8', 'Produce', 8, produceBody({ plain: { 0: baseOffset() } }))
  const control = () => batch(1, { control: true })
  await ask('control batch v8', 'Produce', 8, produceBody({ plain: { 0: control() } }))
  await ask('transactional without an id', 'Produce', 9, {
    ...produceBody({
      plain: { 0: batch(1, { transactional: true, producerId: 1, producerEpoch: 0, baseSequence: 0 }), 1: batch(1) },
    }),
  })
  await ask('min ISR above the replicas', 'Produce', 9, produceBody({ 'min-isr': { 0: batch(1) } }))
  await ask('LogAppendTime', 'Produce', 9, produceBody({ 'append-time': { 0: batch(2) } }))
  await ask('a day in the future', 'Produce', 9, produceBody({ 'min-isr': { 0: batch(1, { time: TIME + 864e5 * 10_000 }) } }))
  await ask('to a zstd topic', 'Produce', 9, produceBody({ 'stored-zstd': { 0: batch(2) } }))
  await ask('to a topic without conversion', 'Produce', 9, produceBody({ 'no-down': { 0: batch(2) } }))
}

async function oldFormats({ ask }: World): Promise<void> {
  for (const version of [0, 1, 2]) {
    await ask(`message set of magic 0 v${version}`, 'Produce', version, produceBody({ old: { 0: messages(0, 2) } }))
    await ask(`message set of magic 1 v${version}`, 'Produce', version, produceBody({ old: { 0: messages(1, 2) } }))
    await ask(`batch of magic 2 v${version}`, 'Produce', version, produceBody({ old: { 0: batch(2) } }))
    await ask(`gzip wrapper v${version}`, 'Produce', version, produceBody({ old: { 0: messages(1, 3, 'gzip') } }))
    await ask(`empty set v${version}`, 'Produce', version, produceBody({ old: { 0: Buffer.alloc(0) } }))
  }
  const wrong = changed(messages(1, 1), (bytes) => bytes.writeUInt32BE(crc32(Buffer.from('x')), 12))
  await ask('message with a wrong CRC', 'Produce', 2, produceBody({ old: { 0: wrong } }))
}

async function idempotence({ ask }: World): Promise<void> {
  const send = (label: string, producerEpoch: number, baseSequence: number, count = 2) =>
    ask(label, 'Produce', 9, produceBody({ plain: { 1: batch(count, { producerId: 5000, producerEpoch, baseSequence }) } }))
  await send('unknown producer, sequence 5', 1, 5)
  await send('the same again', 1, 5)
  await send('next', 1, 7)
  await send('a gap', 1, 20)
  await send('the first one once more', 1, 5)
  await send('part of one', 1, 5, 1)
  await send('an older epoch', 0, 9)
  await send('a newer epoch, sequence 3', 2, 3)
  await send('a newer epoch, sequence 0', 2, 0)
}

const fetchBody = (parts: Readonly<Record<string, Readonly<Record<number, object>>>>, more: object = {}) => ({
  replicaId: -1,
  maxWaitMs: 0,
  minBytes: 1,
  maxBytes: 10_000_000,
  topics: Object.entries(parts).map(([topic, partitions]) => ({
    topic,
    partitions: Object.entries(partitions).map(([partition, asked]) => ({
      partition: Number(partition),
      fetchOffset: 0,
      partitionMaxBytes: 1_000_000,
      ...asked,
    })),
  })),
  ...more,
})

/** The same by ids, for v13 and later. */
const byId = (body: ReturnType<typeof fetchBody>, world: World) => ({
  ...body,
  topics: body.topics.map(({ topic, partitions }) => ({ topicId: world.topicId(topic), partitions })),
})

async function fetches(world: World): Promise<void> {
  const { ask } = world
  for (let version = 0; version <= 17; version++) {
    const body = fetchBody({ plain: { 0: { fetchOffset: 3 }, 1: {} } })
    await ask(`fetch v${version}`, 'Fetch', version, version >= 13 ? byId(body, world) : body)
  }
  for (const version of [1, 3, 4]) {
    await ask(`fetch old v${version}`, 'Fetch', version, fetchBody({ old: { 0: { fetchOffset: 3 } } }))
    await ask(`fetch zstd v${version}`, 'Fetch', version, fetchBody({ plain: { 2: {} } }))
    await ask(`fetch without conversion v${version}`, 'Fetch', version, fetchBody({ 'no-down': { 0: {} } }))
  }
  for (const version of [9, 10])
    await ask(`fetch a zstd topic v${version}`, 'Fetch', version, fetchBody({ 'stored-zstd': { 0: {} } }))
  for (const isolationLevel of [0, 1]) {
    await ask(`isolation ${isolationLevel}`, 'Fetch', 11, fetchBody({ plain: { 0: { fetchOffset: 18 } } }, { isolationLevel }))
  }
  for (const fetchOffset of [-1, 9999]) {
    await ask(`offset ${fetchOffset}`, 'Fetch', 11, fetchBody({ plain: { 0: { fetchOffset }, 1: { fetchOffset: 9 } } }))
  }
  await ask('at the end', 'Fetch', 11, fetchBody({ sessions: { 0: {} } }))
  await ask('unknown ones', 'Fetch', 12, fetchBody({ nowhere: { 0: {} }, plain: { 99: {}, 0: { fetchOffset: 19 } } }))
  await ask('unknown id', 'Fetch', 13, {
    ...fetchBody({}),
    topics: [{ topicId: 'AAAAAAAAAAAAAAAAAAAABQ', partitions: [{ partition: 0 }] }],
  })
  await ask('unknown leader epoch', 'Fetch', 16, byId(fetchBody({ plain: { 0: { currentLeaderEpoch: 9 } } }), world))
  await ask('our leader epoch', 'Fetch', 12, fetchBody({ plain: { 0: { fetchOffset: 19, currentLeaderEpoch: 0 } } }))
  for (const lastFetchedEpoch of [0, 3]) {
    await ask(
      `last fetched epoch ${lastFetchedEpoch}`,
      'Fetch',
      12,
      fetchBody({ plain: { 0: { fetchOffset: 19, lastFetchedEpoch } } }),
    )
  }
  await ask('as follower 5', 'Fetch', 11, fetchBody({ plain: { 0: { fetchOffset: 19 } } }, { replicaId: 5 }))
  await ask('as follower 5 with epoch', 'Fetch', 11, fetchBody({ plain: { 0: { currentLeaderEpoch: 0 } } }, { replicaId: 5 }))
  await ask('as debug consumer', 'Fetch', 11, fetchBody({ plain: { 0: { fetchOffset: 19 } } }, { replicaId: -2 }))
  await ask(
    'a wait that ends',
    'Fetch',
    11,
    fetchBody({ plain: { 0: { fetchOffset: 18 } } }, { maxWaitMs: 50, minBytes: 10_000 }),
  )
  await ask('no partitions', 'Fetch', 11, fetchBody({}))
}

async function limits(world: World): Promise<void> {
  const { ask } = world
  for (const partition of [0, 1, 2]) {
    for (const size of [1000, 300]) {
      await ask(`fill ${partition} with ${size}`, 'Produce', 9, produceBody({ limits: { [partition]: batch(1, { size }) } }))
    }
  }
  const three = (partitionMaxBytes: number) =>
    fetchBody({ limits: { 0: { partitionMaxBytes }, 1: { partitionMaxBytes }, 2: { partitionMaxBytes } } })
  for (const version of [2, 3, 4, 11]) {
    for (const size of [0, 1, 500, 1100, 100_000]) await ask(`${size} per partition v${version}`, 'Fetch', version, three(size))
    for (const maxBytes of [0, 1, 500, 1500, 2600]) {
      await ask(`${maxBytes} in all v${version}`, 'Fetch', version, { ...three(100_000), maxBytes })
    }
  }
}

async function sessions(world: World): Promise<void> {
  const { ask } = world
  const all = { 0: {}, 1: {}, 2: {}, 3: {} }
  for (const version of [7, 12]) {
    const made = (await ask(
      `make a session v${version}`,
      'Fetch',
      version,
      fetchBody({ sessions: all }, { sessionEpoch: 0 }),
    )) as {
      sessionId: number
    }
    const { sessionId } = made
    const next = (label: string, sessionEpoch: number, more: object = {}) =>
      ask(`${label} v${version}`, 'Fetch', version, fetchBody({}, { sessionId, sessionEpoch, ...more }))
    await next('nothing new', 1)
    await ask(`news v${version}`, 'Produce', 9, produceBody({ sessions: { 1: batch(1), 3: batch(1) } }))
    await next('news of two', 2)
    await next('the same, for the offsets stay', 3)
    const end = version === 7 ? 1 : 2
    await next(
      'moved on',
      4,
      fetchBody({ sessions: { 1: { fetchOffset: end }, 3: { fetchOffset: end } } }, { sessionId, sessionEpoch: 4 }),
    )
    await next('a wrong epoch', 4)
    await next('with an unknown one', 5, fetchBody({ nowhere: { 0: {} } }, { sessionId, sessionEpoch: 5 }))
    await next('which stays unknown', 6)
    await next('less one', 7, { forgottenTopicsData: [{ topic: 'nowhere', partitions: [0] }] })
    await next('less all', 8, { forgottenTopicsData: [{ topic: 'sessions', partitions: [0, 1, 2, 3] }] })
    await next('gone', 9)
  }
  const ids = byId(fetchBody({ sessions: all }, { sessionEpoch: 0 }), world)
  const { sessionId } = (await ask('make a session by ids', 'Fetch', 13, ids)) as { sessionId: number }
  await ask('with names in a session of ids', 'Fetch', 12, fetchBody({}, { sessionId, sessionEpoch: 1 }))
  await ask('unknown id in it', 'Fetch', 13, {
    ...fetchBody({}, { sessionId, sessionEpoch: 1 }),
    topics: [{ topicId: 'AAAAAAAAAAAAAAAAAAAABQ', partitions: [{ partition: 0 }] }],
  })
  await ask('close it', 'Fetch', 13, byId(fetchBody({ sessions: { 0: {} } }, { sessionId, sessionEpoch: -1 }), world))
  await ask('closed', 'Fetch', 13, fetchBody({}, { sessionId, sessionEpoch: 2 }))
  await ask('a session that never was', 'Fetch', 11, fetchBody({}, { sessionId: 77, sessionEpoch: 3 }))
}

async function offsets({ ask }: World): Promise<void> {
  const list = (parts: Readonly<Record<string, readonly object[]>>, more: object = {}) => ({
    replicaId: -1,
    topics: Object.entries(parts).map(([name, partitions]) => ({
      name,
      partitions: partitions.map((asked) => ({ partitionIndex: 0, ...asked })),
    })),
    ...more,
  })
  for (const maxNumOffsets of [1, 10]) {
    for (const timestamp of [-1, -2, -3, 0, TIME]) {
      await ask(`v0 ${timestamp} max ${maxNumOffsets}`, 'ListOffsets', 0, list({ plain: [{ timestamp, maxNumOffsets }] }))
    }
  }
  for (const at of [0, 50, 20, 70]) {
    await ask(`roll ${at}`, 'Produce', 9, produceBody({ rolled: { 0: batch(2, { size: 100, time: TIME + at }) } }))
  }
  for (const timestamp of [-1, -2, 4e12]) {
    for (const maxNumOffsets of [1, 2, 3, 10]) {
      await ask(`v0 rolled ${timestamp} max ${maxNumOffsets}`, 'ListOffsets', 0, list({ rolled: [{ timestamp, maxNumOffsets }] }))
    }
  }
  for (const after of [0, 1, 10, 30, 51, 60, 71, 72]) {
    await ask(`rolled after ${after}`, 'ListOffsets', 7, list({ rolled: [{ timestamp: TIME + after }] }))
  }
  await ask('rolled largest', 'ListOffsets', 7, list({ rolled: [{ timestamp: -3 }] }))
  await ask('v0 unknown', 'ListOffsets', 0, list({ nowhere: [{ timestamp: -1 }] }))
  for (let version = 1; version <= 9; version++) {
    await ask(
      `all specials v${version}`,
      'ListOffsets',
      version,
      list({
        plain: [{ timestamp: -1 }],
        limits: [{ timestamp: -2 }],
        old: [{ timestamp: -3 }],
        tiny: [{ timestamp: -4 }],
        sessions: [{ timestamp: -5 }],
        compacted: [{ timestamp: -6 }],
      }),
    )
  }
  for (const timestamp of [0, TIME, TIME + 1, TIME + 2, TIME + 1e9]) {
    await ask(`time ${timestamp - TIME}`, 'ListOffsets', 7, list({ plain: [{ timestamp }], old: [{ timestamp }] }))
  }
  await ask('largest time', 'ListOffsets', 7, list({ 'min-isr': [{ timestamp: -3 }], compacted: [{ timestamp: -3 }] }))
  await ask('unknown', 'ListOffsets', 7, list({ nowhere: [{ timestamp: -1 }], plain: [{ partitionIndex: 99, timestamp: -1 }] }))
  await ask(
    'twice',
    'ListOffsets',
    7,
    list({ plain: [{ timestamp: -1 }, { timestamp: -2 }, { partitionIndex: 1, timestamp: -1 }] }),
  )
  await ask('unknown epoch', 'ListOffsets', 7, list({ plain: [{ timestamp: -1, currentLeaderEpoch: 4 }] }))
  await ask('read committed', 'ListOffsets', 7, list({ plain: [{ timestamp: -1 }] }, { isolationLevel: 1 }))
  for (const replicaId of [-2, 5])
    await ask(`replica ${replicaId}`, 'ListOffsets', 7, list({ plain: [{ timestamp: -1 }] }, { replicaId }))
}

async function deletions({ ask }: World): Promise<void> {
  const remove = (label: string, version: number, name: string, offset: number, partitionIndex = 0) =>
    ask(label, 'DeleteRecords', version, { timeoutMs: 1000, topics: [{ name, partitions: [{ partitionIndex, offset }] }] })
  await remove('beyond the end', 2, 'limits', 9999)
  await remove('-2', 2, 'limits', -2)
  await remove('to 1', 0, 'limits', 1)
  await remove('to 0 again', 1, 'limits', 0)
  await remove('all of it', 2, 'limits', -1, 1)
  await remove('compacted topic', 2, 'compacted', 0)
  await remove('internal topic deletion', 2, '__consumer_offsets', 0)
  await remove('unknown deletion', 2, 'nowhere', 0)
  await ask('fetch what is gone', 'Fetch', 11, fetchBody({ limits: { 0: {}, 1: { fetchOffset: 2 } } }))
  await ask('produce after it', 'Produce', 9, produceBody({ limits: { 0: batch(1), 1: batch(1) } }))
  await ask(
    'a refused one after it',
    'Produce',
    9,
    produceBody({ limits: { 0: Buffer.concat([batch(1)]), 1: batch(1, { control: true }) } }),
  )
  await ask('earliest after it', 'ListOffsets', 5, {
    replicaId: -1,
    topics: [{ name: 'limits', partitions: [0, 1, 2].map((partitionIndex) => ({ partitionIndex, timestamp: -2 })) }],
  })
}

async function theRest({ ask }: World): Promise<void> {
  const epochs = (topic: string, partitions: readonly object[]) => ({
    replicaId: -1,
    topics: [{ topic, partitions: partitions.map((asked) => ({ partition: 0, ...asked })) }],
  })
  for (let version = 0; version <= 4; version++) {
    await ask(
      `epochs v${version}`,
      'OffsetForLeaderEpoch',
      version,
      epochs('plain', [{ leaderEpoch: 0 }, { leaderEpoch: 5 }, { leaderEpoch: -1 }]),
    )
  }
  await ask(
    'epoch fenced',
    'OffsetForLeaderEpoch',
    4,
    epochs('plain', [
      { leaderEpoch: 0, currentLeaderEpoch: 7 },
      { leaderEpoch: 0, currentLeaderEpoch: 0 },
    ]),
  )
  await ask(
    'epoch of nothing',
    'OffsetForLeaderEpoch',
    4,
    epochs('nowhere', [{ leaderEpoch: 0 }, { partition: 9, leaderEpoch: 0 }]),
  )
  await ask('epoch of an empty one', 'OffsetForLeaderEpoch', 4, epochs('tiny', [{ leaderEpoch: 0 }]))
  await ask('producers', 'DescribeProducers', 0, {
    topics: [
      { name: 'plain', partitionIndexes: [0, 1, 99] },
      { name: 'nowhere', partitionIndexes: [0] },
      { name: 'a b', partitionIndexes: [0, 1] },
    ],
  })
  for (let version = 0; version <= 5; version++) {
    await ask(`init v${version}`, 'InitProducerId', version, { transactionalId: null, transactionTimeoutMs: 1000 })
  }
  const init = (label: string, body: object) =>
    ask(label, 'InitProducerId', 4, { transactionalId: null, transactionTimeoutMs: 1000, ...body })
  await init('empty transactional id', { transactionalId: '' })
  await init('id without epoch', { producerId: 5 })
  await init('epoch without id', { producerEpoch: 5 })
  await init('id and epoch', { producerId: 5, producerEpoch: 3 })
  for (let version = 0; version <= 4; version++) {
    await ask(`some log dirs v${version}`, 'DescribeLogDirs', version, {
      topics: [
        { topic: 'plain', partitions: [0, 2, 99] },
        { topic: 'nowhere', partitions: [0] },
      ],
    })
  }
  await ask('no log dirs', 'DescribeLogDirs', 4, { topics: [] })
  await ask('all log dirs', 'DescribeLogDirs', 4, { topics: null })
}

/** Records as text, a batch a line, so that a difference can be read. Compressed bytes may differ, what is in them may not. */
export function describeRecords(bytes: Buffer): string[] {
  const lines: string[] = []
  let end = 0
  try {
    for (const found of iterateAnyBatches(bytes)) {
      const records = [
        ...(found.records() as Iterable<{ offset: number; timestamp: number; key: Buffer | null; value: Buffer | null }>),
      ]
      const each = records.map(({ offset, timestamp, key, value }) => `${offset}@${timestamp - TIME}:${key}=${shorten(value)}`)
      lines.push(`magic ${found.magic} codec ${found.codec} ${each.join(' ')}`)
      end += found.slice().length
    }
  } catch (error) {
    lines.push(`not readable: ${(error as Error).message}`)
  }
  if (end < bytes.length) lines.push(`cut: ${bytes.length - end} bytes`)
  return lines
}

const shorten = (value: Buffer | null): string => (value === null || value.length < 10 ? String(value) : `${value.length} bytes`)
