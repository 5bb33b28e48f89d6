// Vectors of messages: what is written from the JSON is the given bytes, and what was read from the bytes writes them again.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const protocol = createRequire(import.meta.url)('@mq/protocol')

/** Names that a release gives to what has another name with us, since two releases differ in its layout. */
const SCHEMA_NAMES = {
  '3.9.1 ReadShareGroupStateSummaryResponse': 'ReadShareGroupStateSummaryResponse39',
  '3.9.1 ShareGroupMetadataValue': 'ShareGroupMetadataValue39',
  '3.9.1 ZkMigrationStateRecord': 'ZkMigrationRecord',
}

/** Fields that 4.x renamed; ours have the names of 3.9.1. */
const FIELD_NAMES = {
  VoteRequest: { replicaEpoch: 'candidateEpoch', replicaId: 'candidateId', replicaDirectoryId: 'candidateDirectoryId' },
  TxnOffsetCommitRequest: { generationIdOrMemberEpoch: 'generationId' },
}

const SUFFIXES = { request: 'Request', response: 'Response' }

export function* messages(vectors) {
  for (const path of vectors.files('messages').filter((name) => name.endsWith('.jsonl'))) {
    const release = path.split('/')[1]
    for (const vector of vectors.lines(path)) {
      yield { name: `${path} ${vector.type} v${vector.version} ${vector.case}`, run: () => check(release, vector) }
    }
  }
}

function check(release, vector) {
  const name = vector.api + (SUFFIXES[vector.type] ?? '')
  const schema = protocol[SCHEMA_NAMES[`${release} ${name}`] ?? name]
  assert.ok(schema !== undefined, `there is no schema ${name}`)
  // A coordinator's key of 4.x has its record type where 3.9.1 has a version.
  const version = vector.type === 'coordinator-key' ? vector.key : vector.version
  const unknown = vector.unknownTaggedFields?.map(({ tag, hex }) => ({ tag, data: Buffer.from(hex, 'hex') }))
  const input = structOf(schema.fields, vector.json, FIELD_NAMES[schema.name] ?? {})
  if (unknown !== undefined) input.unknownTaggedFields = unknown
  assert.equal(hex(protocol.encodeBody(schema, version, input)), vector.hex, 'written from JSON')
  const body = protocol.decodeBody(schema, version, Buffer.from(vector.hex, 'hex'), { int64: 'exact' })
  if (unknown !== undefined) assert.deepEqual(body.unknownTaggedFields, unknown, 'unknown tagged fields')
  assert.equal(hex(protocol.encodeBody(schema, version, body)), vector.hex, 'written from what was read')
  if (vector.prefixedHex !== undefined)
    assert.equal(hex(protocol.encodeVersioned(schema, version, input)), vector.prefixedHex, 'with its version')
}

function structOf(fields, json, renamed) {
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const name = renamed[key] ?? key
      assert.ok(fields[name] !== undefined, `the schema has no field ${name}`)
      return [name, fieldOf(fields[name], value, renamed)]
    }),
  )
}

function fieldOf(field, json, renamed) {
  if (json === null) return null
  if (field.kind === 'struct') return structOf(field.fields, json, renamed)
  if (field.kind !== 'array') return primitiveOf(field.kind, json)
  return json.map((item) =>
    typeof field.item === 'string' ? primitiveOf(field.item, item) : structOf(field.item, item, renamed),
  )
}

function primitiveOf(kind, json) {
  if (kind === 'bytes' || kind === 'records') return Buffer.from(json, 'base64')
  if (kind !== 'int64') return json
  return Number.isSafeInteger(Number(json)) ? Number(json) : BigInt(json)
}

function hex(bytes) {
  return bytes.toString('hex')
}
