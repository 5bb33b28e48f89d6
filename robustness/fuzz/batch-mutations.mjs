// Changes inside records: fields of a batch header, records, compressed bytes; mostly with the CRC put right again, so that what lies behind
// the checksum is reached.
import { crc32, crc32c, RECORD_BATCH } from '@mq/protocol'

const HEADER_FIELDS = Object.entries(RECORD_BATCH).filter(([, field]) => typeof field === 'object' && 'at' in field)
const NUMBERS = [0, 1, -1, 2, -2, 127, 255, 32767, 65535, 2 ** 31 - 1, -(2 ** 31)]
const LONGS = [0n, -1n, 1n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)]
const MAGIC_AT = RECORD_BATCH.magic.at
const COUNT_AT = RECORD_BATCH.recordCount.at

/** `bytes` is what a records field holds: a batch, or a message set of old. */
export function mutateRecords(bytes, random) {
  if (bytes.length <= MAGIC_AT) return random.bytes(random.below(80))
  const isBatch = bytes[MAGIC_AT] === 2 && bytes.length >= RECORD_BATCH.size
  const change = random.pick(
    isBatch
      ? [header, header, header, content, content, lengthened, codec, twice, short, plain]
      : [oldMessage, oldMessage, twice, short, plain],
  )
  const changed = change(Buffer.from(bytes), random)
  if (random.once(8)) return changed
  return withCrc(changed)
}

/** Puts right the checksum of the first batch, or of the first message of an old set. */
export function withCrc(bytes) {
  if (bytes.length <= MAGIC_AT) return bytes
  if (bytes[MAGIC_AT] === 2) {
    if (bytes.length >= RECORD_BATCH.size)
      bytes.writeUInt32BE(crc32c(bytes, RECORD_BATCH.attributes.at, endOf(bytes)), RECORD_BATCH.crc.at)
    return bytes
  }
  const end = endOf(bytes)
  if (end > 16) bytes.writeUInt32BE(crc32(bytes, 16, end), 12)
  return bytes
}

const endOf = (bytes) => {
  const length = bytes.readInt32BE(8)
  return length > 0 && 12 + length <= bytes.length ? 12 + length : bytes.length
}

function header(bytes, random) {
  const [, { at }] = random.pick(HEADER_FIELDS)
  const next = HEADER_FIELDS.map(([, field]) => field.at).find((other) => other > at) ?? RECORD_BATCH.size
  const size = next - at
  if (size === 8) {
    const old = bytes.readBigInt64BE(at)
    bytes.writeBigInt64BE(random.once(2) ? random.pick(LONGS) : BigInt.asIntN(64, old + BigInt(random.below(5) - 2)), at)
  } else {
    const value = random.once(2) ? random.pick(NUMBERS) : bytes.readIntBE(at, size) + random.below(5) - 2
    const spare = 32 - 8 * size
    bytes.writeIntBE(((value | 0) << spare) >> spare, at, size)
  }
  return bytes
}

/** Bits and bytes of the records, or of the compressed bytes that hold them. */
function content(bytes, random) {
  const room = bytes.length - RECORD_BATCH.size
  if (room <= 0) return bytes
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = RECORD_BATCH.size + random.below(room)
    bytes[at] = random.once(2) ? bytes[at] ^ (1 << random.below(8)) : random.pick([0, 1, 0x7f, 0x80, 0xff])
  }
  return bytes
}

/** More or fewer bytes of records, with the length of the batch put right. */
function lengthened(bytes, random) {
  const changed = random.once(2)
    ? Buffer.concat([bytes, random.bytes(1 + random.below(30))])
    : bytes.subarray(0, RECORD_BATCH.size + random.below(bytes.length - RECORD_BATCH.size + 1))
  changed.writeInt32BE(changed.length - 12, 8)
  return changed
}

function codec(bytes, random) {
  const { at } = RECORD_BATCH.attributes
  bytes.writeInt16BE((bytes.readInt16BE(at) & ~7) | random.below(8), at)
  if (random.once(3)) bytes.writeInt32BE(random.below(5), COUNT_AT)
  return bytes
}

function twice(bytes, random) {
  return Buffer.concat([bytes, random.once(2) ? bytes : bytes.subarray(0, random.below(bytes.length))])
}

function short(bytes, random) {
  return bytes.subarray(0, random.below(bytes.length))
}

/** As it is: with a number of its own it is the same batch again. */
function plain(bytes) {
  return bytes
}

/** offset 8, size 4, crc 4, magic 1, attributes 1, (timestamp 8), key, value. */
function oldMessage(bytes, random) {
  if (bytes.length < 30) return bytes
  const at = random.pick([0, 8, 16, 17, 18, 22, 26, bytes.length - 4])
  if (random.once(2) && at + 4 <= bytes.length && at !== 16 && at !== 17) bytes.writeInt32BE(random.pick(NUMBERS), at)
  else bytes[Math.min(at, bytes.length - 1)] ^= 1 << random.below(8)
  return bytes
}
