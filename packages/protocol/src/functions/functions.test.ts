/** The small shared functions, against the vectors of Apache Kafka. */
import assert from 'node:assert/strict'
import { vectors } from '../../../../conformance/index.js'
import { RecordCursor } from '../records/cursor.js'
import { writeUnsignedVarint, writeVarint, writeVarlong } from '../records/varint.js'
import { javaStringHash, murmur2, partitionForGroup, partitionForKey } from './partition.js'
import { type ScramMechanism, scramCredential, scramCredentialText, scramSaltedPassword } from './scram.js'
import { newUuid, uuidFromString, uuidToString } from './uuid.js'

interface Functions {
  murmur2: { key: string; murmur2: number; partition: { [count: string]: number } }[]
  groupPartition: { id: string; hashCode: number; partition: { [count: string]: number } }[]
  varint: { value: number; zigzag: string; unsigned: string }[]
  varlong: { value: string; zigzag: string }[]
  uuid: { hex: string; text: string }[]
  scram: {
    mechanism: ScramMechanism
    password: string
    salt: string
    iterations: number
    saltedPassword: string
    storedKey: string
    serverKey: string
    znodeText: string
  }[]
}

const given = vectors.json<Functions>('misc/functions.json')
const write = (writing: (bytes: Buffer) => number): string => {
  const bytes = Buffer.alloc(16)
  return bytes.toString('hex', 0, writing(bytes))
}

/** A record whose timestamp delta is the given varlong and whose offset delta the given varint. */
function recordWith(varlong: string, varint: string): RecordCursor {
  const fields = Buffer.from(`00${varlong}${varint}01${'01'}00`, 'hex')
  const bytes = Buffer.concat([Buffer.from([fields.length * 2]), fields])
  const cursor = new RecordCursor(bytes, 0, bytes.length, 1)
  assert.equal(cursor.next(), true)
  return cursor
}

describe('partition functions', () => {
  it('hash keys as the default partitioner of Kafka does', () => {
    assert.ok(given.murmur2.length >= 40)
    for (const { key, murmur2: hash, partition } of given.murmur2) {
      const bytes = Buffer.from(key, 'base64')
      assert.equal(murmur2(bytes), hash)
      for (const [count, expected] of Object.entries(partition)) assert.equal(partitionForKey(bytes, Number(count)), expected)
    }
  })

  it('hash group ids as Java hashes strings', () => {
    for (const { id, hashCode, partition } of given.groupPartition) {
      assert.equal(javaStringHash(id), hashCode)
      for (const [count, expected] of Object.entries(partition)) assert.equal(partitionForGroup(id, Number(count)), expected)
    }
  })

  it('put an id whose hash is -2^31 into partition 0', () => {
    assert.equal(javaStringHash('polygenelubricants'), -0x80000000)
    assert.equal(partitionForGroup('polygenelubricants', 50), 0)
  })
})

describe('varints', () => {
  it('are written and read as Kafka does', () => {
    for (const { value, zigzag, unsigned } of given.varint) {
      assert.equal(
        write((bytes) => writeVarint(bytes, 0, value)),
        zigzag,
      )
      assert.equal(
        write((bytes) => writeUnsignedVarint(bytes, 0, value >>> 0)),
        unsigned,
      )
      assert.equal(recordWith('00', zigzag).offsetDelta, value)
    }
    for (const { value, zigzag } of given.varlong) {
      assert.equal(
        write((bytes) => writeVarlong(bytes, 0, BigInt(value))),
        zigzag,
      )
      if (Number.isSafeInteger(Number(value)))
        assert.equal(
          write((bytes) => writeVarlong(bytes, 0, Number(value))),
          zigzag,
        )
      const cursor = recordWith(zigzag, '00')
      assert.equal(cursor.timestampDelta, Number(value))
      assert.equal(BigInt(cursor.exactTimestampDelta()), BigInt(value))
    }
  })
})

describe('ids', () => {
  it('are 22 characters of base64url', () => {
    for (const { hex, text } of given.uuid) {
      assert.equal(uuidToString(Buffer.from(hex, 'hex')), text)
      assert.equal(uuidFromString(text)?.toString('hex'), hex)
    }
    assert.equal(uuidFromString('too short'), undefined)
    assert.equal(uuidFromString('AAAAAAAAAAAAAAAAAAAA*A'), undefined)
  })

  it('are drawn again when reserved or when they look like an option', () => {
    const draws = [Buffer.from('f8'.padEnd(32, '0'), 'hex'), Buffer.alloc(16, 0x11)]
    const drawn = newUuid({ bytes: () => draws.shift()! })
    assert.equal(uuidFromString(drawn)?.toString('hex'), '11111111111141119111111111111111')
    assert.equal(draws.length, 0)
  })
})

describe('SCRAM credentials', () => {
  it('are derived and stored as Kafka does', () => {
    assert.ok(given.scram.length >= 4)
    for (const row of given.scram) {
      const salt = Buffer.from(row.salt, 'base64')
      const salted = scramSaltedPassword(row.mechanism, row.password, salt, row.iterations)
      assert.equal(salted.toString('base64'), row.saltedPassword)
      const credential = scramCredential(row.mechanism, salted, salt, row.iterations)
      assert.equal(credential.storedKey.toString('base64'), row.storedKey)
      assert.equal(credential.serverKey.toString('base64'), row.serverKey)
      assert.equal(scramCredentialText(credential), row.znodeText)
    }
  })
})
