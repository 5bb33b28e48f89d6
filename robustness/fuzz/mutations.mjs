// What the fuzz does to a frame: one to three changes that know where lengths, counts, names, versions and record batches stand, and the
// size of the frame put right again, or not. Everything comes from `random`, and from `live`: names and ids that the broker knows now.
import { mutateRecords } from './batch-mutations.mjs'
import { lengthBytes, mapOf, varint } from './wire-map.mjs'

/** Item counts stay where a request is a burden, not a siege: 10,000 partitions is the broker's own limit, tested by itself. */
const MOST_ITEMS = 300
const LARGEST_FRAME = 200_000
const NUMBERS = [
  0,
  1,
  -1,
  2,
  -2,
  3,
  5,
  10,
  100,
  127,
  128,
  255,
  256,
  1000,
  32767,
  -32768,
  65535,
  2 ** 31 - 1,
  -(2 ** 31),
  2 ** 32 - 1,
]
const LONGS = [0n, 1n, -1n, -2n, -3n, -5n, 100n, 2n ** 31n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)]
/** Numbers of partitions to be made: many of them cost a real broker real work, so they are few or too many. */
const PARTITION_COUNTS = [0, 1, -1, -2, 2, 3, 7, 20_001, 2 ** 31 - 1, -(2 ** 31)]
const STRINGS = [
  '',
  '.',
  '..',
  '../../etc/passwd',
  'a b',
  'a/b',
  '\0',
  'é☃',
  '__consumer_offsets',
  '__transaction_state',
  'x'.repeat(249),
  'x'.repeat(250),
  'x'.repeat(32_767),
  '%00',
  '\r\n',
  'null',
  '-1',
]

/**
 * Returns `{ bytes, what }`: what is written to the connection, sizes included, and the changes in words. `origins` are frames without
 * size; `live` lists strings and ids worth trying.
 */
export function mutated(frame, random, live) {
  if (random.once(12)) return { bytes: sized(frame), what: 'as it was' }
  const what = []
  let bytes = frame
  const changes = 1 + random.below(3)
  for (let change = 0; change < changes; change++) {
    const mutation = random.pick(MUTATIONS)
    const map = mapOf(bytes)
    const next = mutation(bytes, map, random, live)
    if (next === null || next.length > LARGEST_FRAME) continue
    bytes = next
    what.push(mutation.name)
  }
  if (random.once(25)) return { bytes: lyingSize(bytes, random), what: [...what, 'size'].join(' ') }
  return { bytes: sized(bytes), what: what.join(' ') }
}

function sized(frame) {
  const size = Buffer.alloc(4)
  size.writeInt32BE(frame.length)
  return Buffer.concat([size, frame])
}

/** Too long: it stays incomplete. Too short: the rest is taken for the next frame. Or what no frame may have. */
function lyingSize(frame, random) {
  const bytes = sized(frame)
  const size = random.pick([
    frame.length + 1 + random.below(5000),
    random.below(frame.length + 1),
    0,
    -1,
    2 ** 31 - 1,
    104_857_600,
    104_857_601,
  ])
  bytes.writeInt32BE(size)
  return bytes
}

const splice = (frame, at, end, bytes) => Buffer.concat([frame.subarray(0, at), bytes, frame.subarray(end)])
const some = (map, random, kinds) => {
  const fitting = map?.fields.filter(({ kind }) => kinds.includes(kind)) ?? []
  return fitting.length === 0 ? null : random.pick(fitting)
}

// --- values

function number(frame, map, random) {
  const field = some(map, random, ['int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'float64', 'bool'])
  if (field === null) return null
  const { at, end, path } = field
  if (path === 'apiKey') return null
  const changed = Buffer.from(frame)
  if (end - at === 8) {
    const old = frame.readBigInt64BE(at)
    changed.writeBigInt64BE(random.once(2) ? random.pick(LONGS) : BigInt.asIntN(64, old + BigInt(random.below(5) - 2)), at)
    return changed
  }
  const bits = 8 * (end - at)
  const old = frame.readIntBE(at, end - at)
  const isCount = /numPartitions|\.count$/.test(path)
  const value = isCount ? random.pick(PARTITION_COUNTS) : random.once(2) ? random.pick(NUMBERS) : old + random.below(5) - 2
  changed.writeIntBE(((value | 0) << (32 - bits)) >> (32 - bits), at, end - at)
  return changed
}

function uuid(frame, map, random, live) {
  const field = some(map, random, ['uuid'])
  if (field === null) return null
  const bytes =
    random.once(2) && live.ids.length > 0
      ? Buffer.from(random.pick(live.ids), 'base64url')
      : random.once(3)
        ? Buffer.alloc(16)
        : random.bytes(16)
  return splice(frame, field.at, field.end, bytes)
}

function text(frame, map, random, live) {
  const field = some(map, random, ['string'])
  if (field === null) return null
  const value = Buffer.from(random.once(2) && live.strings.length > 0 ? random.pick(live.strings) : random.pick(STRINGS))
  return splice(frame, field.at, field.end, Buffer.concat([lengthBytes(field.form, value.length), value]))
}

function notUtf8(frame, map, random) {
  const field = some(map, random, ['string'])
  if (field === null || field.end <= field.contentAt) return null
  return splice(frame, field.contentAt, field.contentAt + 1, Buffer.from([0x80 | random.below(128)]))
}

function opaque(frame, map, random) {
  const field = some(map, random, ['bytes'])
  if (field === null) return null
  const content = frame.subarray(field.contentAt, field.end)
  const value = random.pick([
    Buffer.alloc(0),
    random.bytes(random.below(64)),
    content.subarray(0, random.below(content.length + 1)),
    flipped(content, random),
    Buffer.alloc(20_000, 1),
  ])
  return splice(frame, field.at, field.end, Buffer.concat([lengthBytes(field.form, value.length), value]))
}

function records(frame, map, random) {
  const field = some(map, random, ['records'])
  if (field === null || field.end <= field.contentAt) return null
  const value = mutateRecords(frame.subarray(field.contentAt, field.end), random)
  return splice(frame, field.at, field.end, Buffer.concat([lengthBytes(field.form, value.length), value]))
}

// --- lengths, counts and structure

/** The length says something else than what is there. */
function length(frame, map, random) {
  const field = some(map, random, ['string', 'bytes', 'records', 'array', 'tags', 'tag size'])
  if (field === null) return null
  const actual = field.kind === 'array' ? field.items.length : field.end - field.contentAt
  const lie = random.once(2) ? actual + random.below(9) - 4 : random.pick(NUMBERS)
  return splice(frame, field.at, field.contentAt, lengthBytes(field.form, lie))
}

function none(frame, map, random) {
  const field = some(map, random, ['string', 'bytes', 'records', 'array'])
  if (field === null) return null
  return splice(frame, field.at, field.end, lengthBytes(field.form, random.once(3) ? 0 : -1))
}

/** A compact length in more bytes than it needs, up to more than it may have. */
function longVarint(frame, map, random) {
  const fields = map?.fields.filter(({ form }) => form === 'varint') ?? []
  if (fields.length === 0) return null
  const { at, contentAt } = random.pick(fields)
  const old = [...frame.subarray(at, contentAt)]
  old[old.length - 1] |= 0x80
  return splice(frame, at, contentAt, Buffer.from([...old, ...Array(random.below(10)).fill(0x80), 0]))
}

function items(frame, map, random) {
  const arrays = map?.fields.filter(({ kind, items }) => kind === 'array' && items.length > 0) ?? []
  if (arrays.length === 0) return null
  const field = random.pick(arrays)
  const parts = field.items.map(({ at, end }) => frame.subarray(at, end))
  const chosen = random.below(parts.length)
  // Topics made many times over would only be more of the same work.
  const copies = /CreateTopics|CreatePartitions/.test(map.api) ? 1 + random.below(3) : random.pick([1, 1, 2, 10, MOST_ITEMS])
  const changed = random.once(3) ? parts.filter((_, at) => at !== chosen) : [...parts, ...Array(copies).fill(parts[chosen])]
  const content = Buffer.concat(changed)
  return splice(frame, field.at, field.end, Buffer.concat([lengthBytes(field.form, changed.length), content]))
}

function taggedFields(frame, map, random) {
  const field = some(map, random, ['tags'])
  if (field === null) return null
  const old = frame[field.at]
  if (old > 100) return null
  const content = random.bytes(random.below(20))
  const tag = random.pick([0, 1, 2, 5, 100, 2 ** 31 - 1, 2 ** 32 - 1])
  const size = random.once(4) ? random.below(2 ** 31) : content.length
  // In front of those that are there: often out of order, or twice.
  return splice(frame, field.at, field.contentAt, Buffer.concat([varint(old + 1), varint(tag), varint(size), content]))
}

// --- header

function version(frame, _map, random) {
  const changed = Buffer.from(frame)
  if (changed.length < 4) return null
  changed.writeInt16BE(random.once(4) ? random.pick([-1, 32767, -32768, 99]) : random.below(18), 2)
  return changed
}

function api(frame, _map, random) {
  const changed = Buffer.from(frame)
  if (changed.length < 4) return null
  changed.writeInt16BE(random.once(8) ? random.pick([-1, 999, 32767]) : random.below(95), 0)
  return changed
}

// --- bytes

const flipped = (bytes, random) => {
  if (bytes.length === 0) return bytes
  const changed = Buffer.from(bytes)
  for (let flips = 1 + random.below(3); flips > 0; flips--) changed[random.below(changed.length)] ^= 1 << random.below(8)
  return changed
}

function bits(frame, _map, random) {
  return flipped(frame, random)
}

function cut(frame, _map, random) {
  return frame.subarray(0, random.below(frame.length + 1))
}

function trailing(frame, _map, random) {
  return Buffer.concat([frame, random.bytes(1 + random.below(40))])
}

function inserted(frame, _map, random) {
  const at = random.below(frame.length + 1)
  return Buffer.concat([frame.subarray(0, at), random.bytes(1 + random.below(8)), frame.subarray(at)])
}

function removed(frame, _map, random) {
  const at = random.below(frame.length + 1)
  return Buffer.concat([frame.subarray(0, at), frame.subarray(at + 1 + random.below(8))])
}

const MUTATIONS = [
  number,
  number,
  number,
  uuid,
  text,
  text,
  notUtf8,
  opaque,
  records,
  records,
  records,
  records,
  length,
  length,
  none,
  longVarint,
  items,
  items,
  taggedFields,
  version,
  api,
  bits,
  cut,
  trailing,
  inserted,
  removed,
]
