// The steps of the interop table and everything that is checked in them. Programs only do and tell; what is right is decided here.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

const PARTITIONS = 3
const KEYS = 11
const RECORDS = 330
export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
const SETTLE_MS = 30_000
const REFUSED_WITHIN_MS = 20_000

/** What a row's steps share: the program, its abilities, the records it wrote (by topic), the target's nature. */
export function scene({ row, program, hello, target, run }) {
  return { row, program, hello, target, prefix: `${row}-${run}`, written: new Map(), read: new Map() }
}

/** Topics that a row finds there already, made by the runner. */
export function topicsOf(prefix) {
  return [...CODECS, 'idempotent', 'groups'].map((name) => ({ topic: `${prefix}-${name}`, numPartitions: PARTITIONS }))
}

/** In order. `needs`: abilities without which a client has no such cell. */
export const STEPS = [
  { name: 'admin', needs: ['admin'], run: admin },
  ...CODECS.map((codec) => ({ name: codec, needs: [], codec, run: (on) => produceAndConsume(on, codec) })),
  { name: 'commit', needs: [], run: (on) => goOn(on, 'none') },
  { name: 'rebalance', needs: ['group'], run: (on) => rebalance(on, 'eager') },
  { name: 'cooperative', needs: ['cooperative'], run: (on) => rebalance(on, 'cooperative') },
  { name: 'static', needs: ['static'], run: staticMembers },
  { name: 'seek', needs: ['seek'], run: seek },
  { name: 'idempotent', needs: ['idempotent'], run: idempotent },
  { name: 'transaction', needs: ['transactions'], run: transaction },
  { name: 'delete', needs: ['admin'], run: deleteAll },
]

export function isPossible(step, hello) {
  if (step.codec !== undefined && !hello.codecs.includes(step.codec)) return false
  return step.needs.every((need) => need === 'group' || hello.can.includes(need))
}

async function admin({ program, prefix, hello }) {
  const topic = `${prefix}-admin`
  const config = { 'retention.ms': '604800123', 'max.message.bytes': '1048000' }
  const alter = { 'retention.ms': '86400123' }
  const { described, altered, topics } = await program.ask({
    do: 'admin',
    topic,
    partitions: 2,
    config,
    alter,
    total: PARTITIONS,
  })
  assert.equal(described.partitions, 2, 'partitions after create')
  assert.equal(altered.partitions, PARTITIONS, 'partitions after growing')
  assert.ok(topics.includes(topic), `the list of topics lacks ${topic}`)
  if (hello.can.includes('configs')) {
    assert.deepEqual(described.config, config, 'configs after create')
    assert.deepEqual(altered.config, { ...config, ...alter }, 'configs after alter')
  }
}

export async function produceAndConsume(on, codec) {
  const topic = `${on.prefix}-${codec}`
  await produce(on, topic, codec, RECORDS)
  const { records } = await on.program.ask({ do: 'consume', topic, group: `${topic}-group`, count: RECORDS })
  checkRecords(on, topic, records, 0)
  await checkCommitted(on, topic)
}

/** The group goes on where it committed: it gets the new records and nothing else. */
export async function goOn(on, codec, options) {
  const topic = `${on.prefix}-${codec}`
  const from = written(on, topic).length
  assert.ok(from > 0, `the step ${codec} has written nothing`)
  await produce(on, topic, codec, KEYS * 3, options)
  const { records } = await on.program.ask({ do: 'consume', topic, group: `${topic}-group`, count: KEYS * 3 })
  checkRecords(on, topic, records, from)
  await checkCommitted(on, topic)
}

/** A group that is new reads everything that was ever written to the topic. */
export async function readAgain(on, codec, group) {
  const topic = `${on.prefix}-${codec}`
  const { records } = await on.program.ask({ do: 'consume', topic, group: `${topic}-${group}`, count: written(on, topic).length })
  checkRecords({ ...on, read: new Map() }, topic, records, 0)
}

async function idempotent(on) {
  const topic = `${on.prefix}-idempotent`
  await produce(on, topic, 'none', RECORDS, { idempotent: true })
  const { records } = await on.program.ask({ do: 'consume', topic, group: `${topic}-group`, count: RECORDS })
  checkRecords(on, topic, records, 0)
}

async function produce(on, topic, codec, count, { idempotent = false } = {}) {
  const all = written(on, topic)
  const records = Array.from({ length: count }, (_, index) => record(on, codec, all.length + index))
  const { at } = await on.program.ask({ do: 'produce', topic, codec, idempotent, records })
  const places = on.hello.can.includes('offsets') ? at : undefined
  if (places !== undefined) assert.equal(places.length, count, 'acknowledged records')
  all.push(...records.map((one, index) => ({ ...one, at: places?.[index] })))
}

/** Keys come in turn, so that every key has many records; values differ in length, so that codecs have something to do. */
function record(on, codec, index) {
  const own = on.hello.can.includes('headers') ? [['index', String(index)]] : []
  return {
    key: `key-${index % KEYS}`,
    value: `${codec} ${index} ${'the quick brown fox ☃ '.repeat(index % 17)}`,
    headers: [['codec', codec], ...own, ['empty', '']],
    timestamp: on.target.startedAt - 600_000 + index * 100,
  }
}

/** `records` are exactly those written from index `from` on: each once, with its bytes, in order in its partition, a key in one partition only. */
function checkRecords(on, topic, records, from) {
  const sent = written(on, topic)
  const expected = new Map(sent.slice(from).map((one) => [one.value, one]))
  const seen = new Set()
  const partitionOfKey = new Map()
  for (const one of records) {
    const wanted = expected.get(one.value)
    assert.ok(wanted !== undefined, `a record that nobody wrote here: ${JSON.stringify(one).slice(0, 200)}`)
    assert.ok(!seen.has(one.value), `read twice: ${one.value.slice(0, 40)}`)
    seen.add(one.value)
    assert.equal(one.key, wanted.key, `key of ${one.value.slice(0, 20)}`)
    assert.deepEqual(one.headers, wanted.headers, `headers of ${one.value.slice(0, 20)}`)
    checkTimestamp(on, one, wanted)
    if (wanted.at !== undefined) {
      assert.deepEqual({ partition: one.partition, offset: one.offset }, wanted.at, `place of ${one.value.slice(0, 20)}`)
    }
    assert.equal(partitionOfKey.get(one.key) ?? one.partition, one.partition, `partition of ${one.key}`)
    partitionOfKey.set(one.key, one.partition)
  }
  assert.equal(seen.size, expected.size, `read ${seen.size} of ${expected.size} records`)
  checkOrder(on, topic, records)
}

function checkTimestamp(on, one, wanted) {
  if (on.hello.can.includes('timestamps')) assert.equal(one.timestamp, wanted.timestamp, `timestamp of ${one.value.slice(0, 20)}`)
  else assert.ok(Math.abs(one.timestamp - Date.now()) < 600_000, `timestamp ${one.timestamp} is not of now`)
}

/** Offsets go on without a gap from what was read before, and records of a key keep the order in which they were written. */
function checkOrder(on, topic, records) {
  const next = on.read.get(topic) ?? new Map()
  on.read.set(topic, next)
  const lastIndexOfKey = new Map()
  for (const one of records) {
    const before = next.get(one.partition) ?? []
    assert.equal(one.offset, before.length, `offset in partition ${one.partition}`)
    before.push(one)
    next.set(one.partition, before)
    const index = Number(one.value.split(' ', 2)[1])
    assert.ok(index > (lastIndexOfKey.get(one.key) ?? -1), `${one.key}: ${index} came after ${lastIndexOfKey.get(one.key)}`)
    lastIndexOfKey.set(one.key, index)
  }
}

async function checkCommitted({ program, hello, read }, topic) {
  if (!hello.can.includes('committed')) return
  const { offsets } = await program.ask({ do: 'committed', topic, group: `${topic}-group` })
  const ends = Object.fromEntries([...read.get(topic)].map(([partition, records]) => [partition, records.length]))
  assert.deepEqual(sortedByKey(offsets), sortedByKey(ends), 'committed offsets')
}

/** One member owns all; a second one joins and they share; it leaves and the first has all again. */
async function rebalance({ program, prefix }, strategy) {
  const join = { do: 'join', topic: `${prefix}-groups`, group: `${prefix}-${strategy}`, strategy }
  await program.ask({ ...join, member: 'a' })
  await settled(program, ['a'])
  await program.ask({ ...join, member: 'b' })
  await settled(program, ['a', 'b'])
  await program.ask({ do: 'leave', member: 'b' })
  await settled(program, ['a'])
  await program.ask({ do: 'leave', member: 'a' })
}

/** A static member that comes back within its session gets its partitions again and the other one is not disturbed (KIP-345). */
async function staticMembers({ program, prefix }) {
  const join = { do: 'join', topic: `${prefix}-groups`, group: `${prefix}-static`, strategy: 'eager' }
  await program.ask({ ...join, member: 'a', instanceId: 'first' })
  await settled(program, ['a'])
  await program.ask({ ...join, member: 'b', instanceId: 'second' })
  const before = await settled(program, ['a', 'b'])
  await program.ask({ do: 'leave', member: 'b' })
  await program.ask({ ...join, member: 'b', instanceId: 'second' })
  // Were the other one disturbed, it would have given its partitions up before this one could get any: it is looked at last.
  const after = await settled(program, ['b', 'a'])
  assert.deepEqual(after.b.partitions, before.b.partitions, 'partitions of the member that came back')
  assert.equal(after.a.rebalances, before.a.rebalances, 'rebalances that the other member saw')
  await program.ask({ do: 'leave', member: 'b' })
  await program.ask({ do: 'leave', member: 'a' })
}

/** Waits until the members share all partitions, each has one at least, and no partition has two owners. */
async function settled(program, members) {
  for (const deadline = Date.now() + SETTLE_MS; ; await pause(100)) {
    const looks = {}
    for (const member of members) looks[member] = await program.ask({ do: 'assignment', member })
    const partitions = Object.values(looks).map((look) => look.partitions.sort((a, b) => a - b))
    const isShared = partitions.every((some) => some.length > 0) && partitions.flat().sort().join() === [0, 1, 2].join()
    if (isShared) return looks
    assert.ok(Date.now() < deadline, `after ${SETTLE_MS / 1000} s the members have ${JSON.stringify(looks)}`)
  }
}

/** Every partition is read from its first record that is not older than the time asked for. */
async function seek(on) {
  const topic = `${on.prefix}-none`
  const partitions = on.read.get(topic)
  assert.ok(partitions !== undefined, 'the step none has read nothing')
  const times = [...partitions.values()]
    .flat()
    .map((one) => one.timestamp)
    .sort((a, b) => a - b)
  const timestamp = times[Math.floor(times.length / 2)]
  const first = [...partitions].map(([partition, records]) => [partition, records.findIndex((one) => one.timestamp >= timestamp)])
  const starts = Object.fromEntries(first.filter(([, offset]) => offset >= 0))
  const expected = Object.entries(starts).flatMap(([partition, offset]) => partitions.get(Number(partition)).slice(offset))
  const { offsets, records } = await on.program.ask({ do: 'seek', topic, timestamp, count: expected.length })
  if (offsets !== undefined) assert.deepEqual(sortedByKey(offsets), sortedByKey(starts), 'offsets for the time')
  assert.deepEqual(byPlace(records), byPlace(expected), 'records from the time on')
}

/** This broker has no transactions yet and says so at once; the original has them. */
async function transaction({ program, prefix, target, hello }) {
  const began = Date.now()
  let refusal
  try {
    await program.ask({ do: 'transaction', id: `${prefix}-transaction` })
  } catch (error) {
    refusal = error
  }
  if (target.hasTransactions) assert.equal(refusal, undefined, `refused: ${refusal?.message}`)
  else {
    assert.ok(refusal !== undefined, 'a transactional producer was let in')
    // Some clients keep the reason to themselves.
    const tells = hello.can.includes('codes')
    assert.ok(
      !tells ||
        refusal.code === TRANSACTIONAL_ID_AUTHORIZATION_FAILED ||
        /transactional.?id.?authori[sz]ation/i.test(refusal.message),
      `refused with ${refusal.code}: ${refusal.message}`,
    )
    assert.ok(Date.now() - began < REFUSED_WITHIN_MS, `the client took ${Date.now() - began} ms to give up`)
  }
}

async function deleteAll(on) {
  const topic = `${on.prefix}-none`
  const group = `${topic}-group`
  const before = Object.fromEntries(
    [...(on.read.get(topic) ?? [])].map(([partition, records]) => [partition, Math.floor(records.length / 2)]),
  )
  const { earliest, groups, topics } = await on.program.ask({ do: 'delete', topic, group, before })
  if (on.hello.can.includes('deleteRecords'))
    assert.deepEqual(sortedByKey(earliest), sortedByKey(before), 'earliest offsets after deleting records')
  if (groups !== undefined) assert.ok(!groups.includes(group), `the group ${group} is still there`)
  assert.ok(!topics.includes(topic), `the topic ${topic} is still there`)
}

function written(on, topic) {
  if (!on.written.has(topic)) on.written.set(topic, [])
  return on.written.get(topic)
}

function byPlace(records) {
  return [...records].sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}

function sortedByKey(object) {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}
