// Every vector of every API and internal record, byte for byte in both directions, compiled and interpreted.

import assert from 'node:assert/strict'
import { vectors } from '../../../conformance/index.js'
import * as protocol from './index.js'
import { compiledCodec, interpretedCodec } from './schema/codec.js'
import type { Field, Fields } from './schema/fields.js'
import type { Message } from './schema/message.js'
import type { PrimitiveKind } from './wire/primitives.js'

interface Vector {
  readonly api: string
  readonly type: string
  readonly key?: number
  readonly version: number
  readonly case: string
  readonly json: Record<string, unknown>
  readonly hex: string
  readonly prefixedHex?: string
  readonly unknownTaggedFields?: readonly { tag: number; hex: string }[]
}

/** Names that a release gives to what we call otherwise. */
const SCHEMA_NAMES: Record<string, string> = {
  '3.9.1 ReadShareGroupStateSummaryResponse': 'ReadShareGroupStateSummaryResponse39',
  '3.9.1 ShareGroupMetadataValue': 'ShareGroupMetadataValue39',
  '3.9.1 ZkMigrationStateRecord': 'ZkMigrationRecord',
}

/** Fields that 4.x renamed; we keep the names of 3.9.1. */
const FIELD_NAMES: Record<string, Record<string, string>> = {
  VoteRequest: { replicaEpoch: 'candidateEpoch', replicaId: 'candidateId', replicaDirectoryId: 'candidateDirectoryId' },
  TxnOffsetCommitRequest: { generationIdOrMemberEpoch: 'generationId' },
}

function schemaOf(release: string, vector: Vector): Message {
  const suffix = vector.type === 'request' ? 'Request' : vector.type === 'response' ? 'Response' : ''
  const name = vector.api + suffix
  const schema = (protocol as Record<string, unknown>)[SCHEMA_NAMES[`${release} ${name}`] ?? name]
  assert.ok(schema, `no schema ${name}`)
  return schema as Message
}

/** A vector's JSON as encode takes it. Throws for a field that the schema lacks. */
function inputOf(fields: Fields, json: Record<string, unknown>, renamed: Record<string, string>): Record<string, unknown> {
  const entries = Object.entries(json).map(([key, value]) => {
    const name = renamed[key] ?? key
    const field = fields[name]
    assert.ok(field, `no field ${name}`)
    return [name, fieldValue(field, value, renamed)]
  })
  return Object.fromEntries(entries)
}

function fieldValue(field: Field, json: unknown, renamed: Record<string, string>): unknown {
  if (json === null) return null
  if (field.kind === 'struct') return inputOf(field.fields, json as Record<string, unknown>, renamed)
  if (field.kind !== 'array') return primitiveOf(field.kind, json)
  const { item } = field
  return (json as unknown[]).map((element) =>
    typeof item === 'string' ? primitiveOf(item, element) : inputOf(item, element as Record<string, unknown>, renamed),
  )
}

function primitiveOf(kind: PrimitiveKind, json: unknown): unknown {
  if (kind === 'bytes' || kind === 'records') return Buffer.from(json as string, 'base64')
  if (kind !== 'int64') return json
  const value = BigInt(json as number | string)
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function check(release: string, vector: Vector): void {
  const schema = schemaOf(release, vector)
  // A coordinator's key of 4.x has its record type where 3.9.1 has a version; the bytes are the same.
  const version = vector.type === 'coordinator-key' ? vector.key! : vector.version
  const bytes = Buffer.from(vector.hex, 'hex')
  const input = inputOf(schema.fields, vector.json, FIELD_NAMES[schema.name] ?? {})
  const unknown = vector.unknownTaggedFields?.map(({ tag, hex }) => ({ tag, data: Buffer.from(hex, 'hex') }))
  if (unknown !== undefined) input.unknownTaggedFields = unknown
  const place = `${schema.name} v${version} ${vector.case}`
  for (const makeCodec of [compiledCodec, interpretedCodec]) {
    const codec = makeCodec(schema, version)
    const reader = new protocol.Reader(bytes)
    const body = codec.read(reader, 'exact')
    assert.equal(reader.remaining, 0, `${place}: bytes left over`)
    if (unknown !== undefined) assert.deepEqual(body.unknownTaggedFields, unknown, place)
    const again = new protocol.Writer()
    codec.write(again, body as protocol.Input<Message>)
    assert.equal(again.toBuffer().toString('hex'), vector.hex, `${place}: read and written again`)
    const written = new protocol.Writer()
    codec.write(written, input as protocol.Input<Message>)
    assert.equal(written.toBuffer().toString('hex'), vector.hex, `${place}: written`)
  }
  if (vector.prefixedHex !== undefined) {
    const prefixed = protocol.encodeVersioned(schema, version, input as protocol.Input<Message>)
    assert.equal(prefixed.toString('hex'), vector.prefixedHex, `${place}: with its leading int16`)
  }
}

describe('the vectors of every message', () => {
  for (const release of ['3.9.1', '4.4.0']) {
    const files = vectors.files(`messages/${release}`).filter((path) => path.endsWith('.jsonl'))
    it(`${release} has files`, () => assert.ok(files.length > 80))
    for (const path of files) {
      it(path.slice('messages/'.length), () => {
        const lines = vectors.lines<Vector>(path)
        assert.ok(lines.length > 0)
        for (const vector of lines) check(release, vector)
      })
    }
  }
})
