// What a consumer gets of a partition, summed up as README.md says: counts, and hashes that hold for records which are compressed or
// batched otherwise. Depends on nothing, like the vectors' loader.
'use strict'
const { createHash } = require('node:crypto')

function summary(records) {
  const [short, full] = [createHash('sha256'), createHash('sha256')]
  for (const { offset, timestamp, key, value, headers } of records) {
    short.update(int64(offset)).update(part(key)).update(part(value))
    full.update(int64(offset)).update(int64(timestamp)).update(part(key)).update(part(value)).update(int32(headers.length))
    for (const header of headers) full.update(part(Buffer.from(header.key))).update(part(header.value))
  }
  return {
    records: records.length,
    nullValues: records.filter(({ value }) => value === null).length,
    firstOffset: records[0]?.offset ?? -1,
    lastOffset: records.at(-1)?.offset ?? -1,
    sha256: short.digest('hex'),
    sha256Full: full.digest('hex'),
  }
}

function part(bytes) {
  return bytes === null ? int32(-1) : Buffer.concat([int32(bytes.length), bytes])
}

function int32(number) {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(number)
  return bytes
}

function int64(number) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(number))
  return bytes
}

module.exports = { summary }
