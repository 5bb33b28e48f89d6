// Vectors of the small functions: hashes, ids, varints, SCRAM credentials.
import assert from 'node:assert/strict'
import * as protocol from '@mq/protocol'

export function* misc(vectors) {
  const given = vectors.json('misc/functions.json')
  for (const row of given.murmur2) yield { name: `murmur2 ${row.key}`, run: () => hashOfKey(row) }
  for (const row of given.groupPartition) yield { name: `group ${row.id}`, run: () => hashOfGroup(row) }
  for (const row of given.varint) yield { name: `varint ${row.value}`, run: () => varint(row) }
  for (const row of given.varlong)
    yield { name: `varlong ${row.value}`, run: () => assert.equal(written(protocol.writeVarlong, BigInt(row.value)), row.zigzag) }
  for (const row of given.uuid) yield { name: `uuid ${row.text}`, run: () => uuid(row) }
  for (const row of given.scram) yield { name: `scram ${row.mechanism} ${row.password}`, run: () => scram(row) }
}

function hashOfKey({ key, murmur2, partition }) {
  const bytes = Buffer.from(key, 'base64')
  assert.equal(protocol.murmur2(bytes), murmur2)
  for (const [count, expected] of Object.entries(partition))
    assert.equal(protocol.partitionForKey(bytes, Number(count)), expected)
}

function hashOfGroup({ id, hashCode, partition }) {
  assert.equal(protocol.javaStringHash(id), hashCode)
  for (const [count, expected] of Object.entries(partition)) assert.equal(protocol.partitionForGroup(id, Number(count)), expected)
}

function varint({ value, zigzag, unsigned }) {
  assert.equal(written(protocol.writeVarint, value), zigzag)
  assert.equal(written(protocol.writeUnsignedVarint, value >>> 0), unsigned)
}

function written(write, value) {
  const bytes = Buffer.alloc(16)
  return bytes.toString('hex', 0, write(bytes, 0, value))
}

function uuid({ hex, text }) {
  assert.equal(protocol.uuidToString(Buffer.from(hex, 'hex')), text)
  assert.equal(protocol.uuidFromString(text).toString('hex'), hex)
}

function scram({ mechanism, password, salt, iterations, saltedPassword, storedKey, serverKey, znodeText }) {
  const saltBytes = Buffer.from(salt, 'base64')
  const salted = protocol.scramSaltedPassword(mechanism, password, saltBytes, iterations)
  assert.equal(salted.toString('base64'), saltedPassword)
  const credential = protocol.scramCredential(mechanism, salted, saltBytes, iterations)
  assert.equal(credential.storedKey.toString('base64'), storedKey)
  assert.equal(credential.serverKey.toString('base64'), serverKey)
  assert.equal(protocol.scramCredentialText(credential), znodeText)
}
