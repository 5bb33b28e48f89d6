// For property tests: arbitrary values of a message in a version, derived from its plan, and what must come back of them.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import * as exported from '../index.js'
import { INT64_MAX, INT64_MIN, type PrimitiveKind } from '../wire/primitives.js'
import type { Message } from './message.js'
import { defaultValue, type FieldPlan, planOf, type StructPlan } from './plan.js'
import { rangeOf } from './versions.js'

type Value = Record<string, unknown>

/** Every message that the package exports, with each of its versions. */
export const MESSAGES: readonly Message[] = Object.values(exported as Record<string, unknown>).filter(
  (value): value is Message => typeof value === 'object' && value !== null && 'fields' in value && 'flexible' in value,
)

export function versionsOf(schema: Message): number[] {
  const [min, max] = rangeOf(schema.versions)
  return Array.from({ length: max - min + 1 }, (_, index) => min + index)
}

/** Prints and repeats by SEED. */
export const SEED = Number(process.env.SEED ?? Date.now() & 0x7fffffff)

const safeInt64 = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer(),
  fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
)
const wideInt64 = fc
  .bigInt({ min: INT64_MIN, max: INT64_MAX })
  .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value))

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array))
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.string({ maxLength: 60 }), fc.constant('x'.repeat(200)))

const PRIMITIVES: Record<PrimitiveKind, fc.Arbitrary<unknown>> = {
  bool: fc.boolean(),
  int8: fc.integer({ min: -0x80, max: 0x7f }),
  int16: fc.integer({ min: -0x8000, max: 0x7fff }),
  uint16: fc.integer({ min: 0, max: 0xffff }),
  int32: fc.integer(),
  uint32: fc.integer({ min: 0, max: 0xffffffff }),
  int64: fc.oneof(safeInt64, wideInt64),
  float64: fc.double(),
  uuid: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((array) => Buffer.from(array).toString('base64url')),
  string: text,
  bytes,
  records: fc.oneof(bytes, fc.array(bytes, { maxLength: 3 })),
}

/** Values that this version can hold; where a field is missing in it, one that may be dropped or its default. */
export function arbitraryInput(plan: StructPlan): fc.Arbitrary<Value> {
  const fields = Object.fromEntries(
    plan.fields
      .filter((field) => !plan.absent.includes(field) || field.ignorable)
      .map((field) => [field.name, arbitraryField(field)]),
  )
  const known = new Set(plan.tagged.map((field) => field.tag))
  const unknown = plan.flexible
    ? fc
        .uniqueArray(fc.record({ tag: fc.integer({ min: 0, max: 300 }), data: bytes }, { noNullPrototype: true }), {
          selector: ({ tag }) => tag,
          maxLength: 2,
        })
        .map((list) => list.filter(({ tag }) => !known.has(tag)).sort((a, b) => a.tag - b.tag))
    : fc.constant([])
  return fc
    .tuple(
      fc.record(fields, { requiredKeys: [], noNullPrototype: true }),
      fc.oneof({ arbitrary: fc.constant([]), weight: 4 }, unknown),
    )
    .map(([value, extra]) => (extra.length > 0 ? { ...value, unknownTaggedFields: extra } : { ...value }))
}

function arbitraryField(field: FieldPlan): fc.Arbitrary<unknown> {
  const { item } = field
  const value =
    field.struct !== undefined
      ? arbitraryInput(field.struct)
      : item === undefined
        ? PRIMITIVES[field.kind as PrimitiveKind]
        : fc.array(typeof item === 'string' ? PRIMITIVES[item] : arbitraryInput(item), { maxLength: 4 })
  return field.nullable ? fc.option(value, { nil: null }) : value
}

/** What decoding gives of an encoded value: left out and missing fields have their default, slices of records are one. */
export function project(plan: StructPlan, input: Value): Value {
  const result: Value = {}
  for (const field of plan.fields)
    result[field.name] = projectField(field, plan.absent.includes(field) ? undefined : input[field.name])
  if (input.unknownTaggedFields !== undefined) result.unknownTaggedFields = input.unknownTaggedFields
  return result
}

function projectField(field: FieldPlan, value: unknown): unknown {
  if (value === undefined) return defaultValue(field)
  if (value === null) return null
  if (field.struct !== undefined) return project(field.struct, value as Value)
  if (field.kind === 'records') return Array.isArray(value) ? Buffer.concat(value) : value
  const { item } = field
  if (item === undefined || typeof item === 'string') return value
  return (value as Value[]).map((element) => project(item, element))
}

describe('arbitrary messages', () => {
  it('cover all messages', () => {
    assert.ok(MESSAGES.length > 270, `${MESSAGES.length}`)
    for (const schema of MESSAGES) for (const version of versionsOf(schema)) planOf(schema, version)
  })
})
