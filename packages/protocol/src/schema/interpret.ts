// Reads and writes any message by walking its plan. Small and obvious rather than fast: it serves where code generation is
// forbidden, it says exactly where something is wrong, and the compiler is tested against it.

import { DecodeError, EncodeError } from '../wire/failures.js'
import { INT64_MAX, INT64_MIN, INTEGER_RANGE, type Int64Reading, type PrimitiveKind } from '../wire/primitives.js'
import { Reader } from '../wire/reader.js'
import { Writer } from '../wire/writer.js'
import { isDefault } from './defaults.js'
import type { Message, UnknownTaggedField } from './message.js'
import { defaultValue, type FieldPlan, itemMinSize, planOf, type StructPlan } from './plan.js'

type Struct = Record<string, unknown>
/** Field names and array indexes down to where we are; what it holds when something fails is the place. */
type Path = (string | number)[]

export function interpretRead(schema: Message, version: number, reader: Reader, int64: Int64Reading): Struct {
  const path: Path = []
  try {
    return readStruct(reader, planOf(schema, version), int64, path)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new DecodeError(error.reason, error.position, render(path), schema.name, version)
  }
}

export function interpretWrite(schema: Message, version: number, writer: Writer, input: unknown): void {
  const path: Path = []
  try {
    writeStruct(writer, planOf(schema, version), input, path)
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error
    throw new EncodeError(error.reason, render(path), schema.name, version)
  }
}

function render(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

function readStruct(reader: Reader, plan: StructPlan, int64: Int64Reading, path: Path): Struct {
  const struct: Struct = {}
  for (const field of plan.fields) struct[field.name] = undefined // the shape first, so that all have the same
  for (const field of plan.ordinary) {
    path.push(field.name)
    struct[field.name] = readField(reader, field, int64, path)
    path.pop()
  }
  for (const field of plan.tagged) struct[field.name] = defaultOf(field, int64)
  for (const field of plan.absent) struct[field.name] = defaultOf(field, int64)
  if (plan.flexible) readTaggedSection(reader, plan, struct, int64, path)
  return struct
}

/** A default beyond the safe range is clamped in the safe reading, whatever the field. */
function defaultOf(field: FieldPlan, int64: Int64Reading): unknown {
  const value = defaultValue(field)
  return typeof value === 'bigint' && int64 === 'safe' ? (value > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER) : value
}

function readTaggedSection(reader: Reader, plan: StructPlan, struct: Struct, int64: Int64Reading, path: Path): void {
  const sectionStart = reader.at
  const count = reader.unsignedVarint()
  reader.takeItems(count, sectionStart)
  const unknown: UnknownTaggedField[] = []
  for (let index = 0; index < count; index++) {
    const tag = reader.unsignedVarint()
    const size = reader.unsignedVarint()
    const field = plan.tagged.find((candidate) => candidate.tag === tag)
    if (field === undefined) {
      unknown.push({ tag, data: reader.view(size) })
      continue
    }
    path.push(field.name)
    const start = reader.at
    reader.view(size)
    const inner = new Reader(reader.bytes, start, start + size, reader.itemsLeft)
    struct[field.name] = readField(inner, field, int64, path)
    reader.itemsLeft = inner.itemsLeft
    if (inner.remaining > 0) inner.fail(`tagged field says ${size} bytes and has ${size - inner.remaining}`)
    path.pop()
  }
  if (unknown.length > 0) struct.unknownTaggedFields = unknown
}

function readField(reader: Reader, field: FieldPlan, int64: Int64Reading, path: Path): unknown {
  if (field.struct !== undefined) {
    if (field.nullable && reader.int8() < 0) return null
    return readStruct(reader, field.struct, int64, path)
  }
  if (field.kind === 'array') return readArray(reader, field, int64, path)
  return readPrimitive(reader, field.kind as PrimitiveKind, field.compact, field.nullable, field.clamped, int64)
}

function readArray(reader: Reader, field: FieldPlan, int64: Int64Reading, path: Path): unknown[] | null {
  const start = reader.at
  const count = reader.length(field.compact)
  if (count < 0) return field.nullable ? null : reader.fail('null where null is not allowed', start)
  const item = field.item!
  // Memory follows what has arrived, never what a length announces.
  if (count * Math.max(1, itemMinSize(item, field.compact)) > reader.remaining)
    reader.fail(`${count} items cannot be in the ${reader.remaining} bytes left`, start)
  reader.takeItems(count, start)
  const items: unknown[] = []
  for (let index = 0; index < count; index++) {
    path.push(index)
    items.push(
      typeof item === 'string'
        ? readPrimitive(reader, item, field.compact, false, field.clamped, int64)
        : readStruct(reader, item, int64, path),
    )
    path.pop()
  }
  return items
}

function readPrimitive(
  reader: Reader,
  kind: PrimitiveKind,
  compact: boolean,
  nullable: boolean,
  clamped: boolean,
  int64: Int64Reading,
): unknown {
  const start = reader.at
  switch (kind) {
    case 'int64':
      return reader.int64In(int64, clamped)
    case 'string': {
      const text = reader.nullableString(compact)
      return text === null && !nullable ? reader.fail('null where null is not allowed', start) : text
    }
    case 'bytes':
    case 'records': {
      const bytes = reader.nullableBytes(compact)
      return bytes === null && !nullable ? reader.fail('null where null is not allowed', start) : bytes
    }
    default:
      return reader[kind]()
  }
}

function fail(reason: string): never {
  throw new EncodeError(reason)
}

function writeStruct(writer: Writer, plan: StructPlan, value: unknown, path: Path): void {
  if (typeof value !== 'object' || value === null) fail('not an object')
  const struct = value as Struct
  for (const field of plan.absent) {
    path.push(field.name)
    if (!field.ignorable && !isDefault(field, struct[field.name])) fail('this version has no such field')
    path.pop()
  }
  for (const field of plan.ordinary) {
    path.push(field.name)
    writeField(writer, field, struct[field.name], path)
    path.pop()
  }
  const unknown = (struct.unknownTaggedFields ?? []) as readonly UnknownTaggedField[]
  checkUnknownTags(plan, unknown)
  if (plan.flexible) writeTaggedSection(writer, plan, struct, unknown, path)
  else if (unknown.length > 0) fail('this version has no tagged fields')
}

function writeTaggedSection(
  writer: Writer,
  plan: StructPlan,
  struct: Struct,
  unknown: readonly UnknownTaggedField[],
  path: Path,
): void {
  const known = plan.tagged.filter((field) => !isDefault(field, struct[field.name]))
  writer.unsignedVarint(known.length + unknown.length)
  let next = 0
  for (const field of known) {
    for (; next < unknown.length && unknown[next]!.tag < field.tag; next++) writeUnknown(writer, unknown[next]!)
    path.push(field.name)
    const inner = new Writer()
    writeField(inner, field, struct[field.name], path)
    const content = inner.toBuffer()
    writer.unsignedVarint(field.tag)
    writer.unsignedVarint(content.length)
    writer.raw(content)
    path.pop()
  }
  for (; next < unknown.length; next++) writeUnknown(writer, unknown[next]!)
}

/** Tags rise, and none is one that the schema knows in this version. */
export function checkUnknownTags(plan: StructPlan, unknown: readonly UnknownTaggedField[]): void {
  if (!Array.isArray(unknown)) fail('unknown tagged fields are not an array')
  let last = -1
  for (const entry of unknown as readonly (UnknownTaggedField | null | undefined)[]) {
    const { tag, data } = entry ?? fail('an unknown tagged field is not an object')
    if (!Number.isInteger(tag) || tag <= last || tag > INTEGER_RANGE.uint32[1]) fail(`unknown tag ${tag} after ${last}`)
    if (plan.tagged.some((field) => field.tag === tag)) fail(`tag ${tag} is not unknown`)
    if (!Buffer.isBuffer(data)) fail(`data of unknown tag ${tag} is not a Buffer`)
    last = tag
  }
}

export function writeUnknown(writer: Writer, { tag, data }: UnknownTaggedField): void {
  writer.unsignedVarint(tag)
  writer.unsignedVarint(data.length)
  writer.raw(data)
}

function writeField(writer: Writer, field: FieldPlan, given: unknown, path: Path): void {
  const value = given === undefined ? field.default : given
  if (value === null && !field.nullable) fail('null where null is not allowed')
  if (field.struct !== undefined) {
    if (field.nullable) writer.int8(value === null ? -1 : 1)
    if (value !== null) writeStruct(writer, field.struct, value ?? {}, path)
  } else if (field.kind === 'array') {
    writeArray(writer, field, value, path)
  } else {
    writePrimitive(writer, field.kind as PrimitiveKind, value, field.compact)
  }
}

function writeArray(writer: Writer, field: FieldPlan, value: unknown, path: Path): void {
  if (value === null) {
    writer.length(-1, field.compact)
    return
  }
  if (!Array.isArray(value)) fail('not an array')
  const items = value as readonly unknown[]
  const item = field.item!
  writer.length(items.length, field.compact)
  for (let index = 0; index < items.length; index++) {
    path.push(index)
    if (typeof item === 'string') writePrimitive(writer, item, items[index] ?? fail(`${items[index]} in an array`), field.compact)
    else writeStruct(writer, item, items[index], path)
    path.pop()
  }
}

function writePrimitive(writer: Writer, kind: PrimitiveKind, value: unknown, compact: boolean): void {
  switch (kind) {
    case 'bool':
      writer.bool(typeof value === 'boolean' ? value : fail('not a boolean'))
      break
    case 'float64':
      writer.float64(typeof value === 'number' ? value : fail('not a number'))
      break
    case 'int64':
      writer.int64(fitsInt64(value) ? value : fail('not a safe whole number or a bigint of 64 bits'))
      break
    case 'uuid':
      writer.uuid(typeof value === 'string' ? value : fail('not a uuid'))
      break
    case 'string':
      if (value === null) writer.stringLength(-1, compact)
      else writer.string(typeof value === 'string' ? value : fail('not a string'), compact)
      break
    case 'bytes':
      writeBytes(writer, value, compact)
      break
    case 'records':
      writeRecords(writer, value, compact)
      break
    default: {
      const [min, max] = INTEGER_RANGE[kind]
      const fits = Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      writer[kind](fits ? (value as number) : fail(`not a whole number of ${min} to ${max}`))
    }
  }
}

/** Copied into the frame. */
export function writeBytes(writer: Writer, value: unknown, compact: boolean): void {
  if (value === null) {
    writer.length(-1, compact)
    return
  }
  if (!Buffer.isBuffer(value)) fail('not a Buffer')
  writer.length(value.length, compact)
  writer.raw(value)
}

/** One buffer or several that follow each other; put in by reference. */
export function writeRecords(writer: Writer, value: unknown, compact: boolean): void {
  if (value === null) {
    writer.length(-1, compact)
    return
  }
  const slices = Array.isArray(value) ? value : [value]
  if (!slices.every(Buffer.isBuffer)) fail('not a Buffer or Buffers')
  writer.length(
    slices.reduce((sum, slice) => sum + slice.length, 0),
    compact,
  )
  for (const slice of slices) writer.reference(slice)
}

function fitsInt64(value: unknown): value is number | bigint {
  return typeof value === 'bigint' ? value >= INT64_MIN && value <= INT64_MAX : Number.isSafeInteger(value)
}
