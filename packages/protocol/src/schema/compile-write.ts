// Writes the function that writes one message in one version: all loops and structs inline, consecutive fields of fixed size behind
// one check for room. Every value is checked for type and range; where one does not fit, the function throws FAILED and codec.ts
// has the interpreter find the place.

import { FIXED_SIZE, INT64_MAX, INT64_MIN, type PrimitiveKind } from '../wire/primitives.js'
import { putInt64, putUuid, type Writer } from '../wire/writer.js'
import { FAILED } from './compile-read.js'
import { isDefault } from './defaults.js'
import { checkUnknownTags, writeBytes, writeRecords, writeUnknown } from './interpret.js'
import type { UnknownTaggedField } from './message.js'
import type { FieldPlan, StructPlan } from './plan.js'
import { literal, Source } from './source.js'
import { closeTaggedField, writeText } from './text.js'

export function compileWrite(name: string, plan: StructPlan): (writer: Writer, input: unknown) => void {
  const source = new Source()
  source.line('let b = w.chunk, d = w.view, p = w.at;')
  emitStruct(source, plan, 'o')
  source.line('w.at = p;')
  const helpers = {
    isDefault,
    putUuid,
    putWideInt64,
    writeText,
    writeBytes,
    writeRecords,
    closeTaggedField,
    checkUnknownTags,
    writeUnknownBelow,
  }
  const body = `'use strict'; const { ${Object.keys(helpers).join(', ')} } = H; return function write${name}(w, o) {\n${source}\n}`
  return new Function('FAILED', 'K', 'EMPTY', 'H', body)(FAILED, source.constants, Buffer.alloc(0), helpers)
}

/** An int64 that is no int32: checks it and writes it. */
function putWideInt64(bytes: Buffer, at: number, value: unknown): void {
  const fits = typeof value === 'bigint' ? value >= INT64_MIN && value <= INT64_MAX : Number.isSafeInteger(value)
  if (!fits) throw FAILED
  putInt64(bytes, at, value as number | bigint)
}

/** Writes the unknown fields from `next` whose tag is below `tag`; returns the index of the first that is not. */
function writeUnknownBelow(writer: Writer, unknown: readonly UnknownTaggedField[], next: number, tag: number): number {
  let index = next
  for (; index < unknown.length && unknown[index]!.tag < tag; index++) writeUnknown(writer, unknown[index]!)
  return index
}

/** Calls a function that moves the writer, and takes up chunk and place again. */
function emitCall(source: Source, call: string): void {
  source.line(`w.at = p; ${call}; b = w.chunk; d = w.view; p = w.at;`)
}

function emitRoom(source: Source, size: number): void {
  source.line(`if (p + ${size} > b.length) { w.at = p; b = w.grow(${size}); d = w.view; p = w.at; }`)
}

function emitStruct(source: Source, plan: StructPlan, struct: string): void {
  source.line(`if (typeof ${struct} !== 'object' || ${struct} === null) throw FAILED;`)
  for (const field of plan.absent) {
    if (field.ignorable) continue
    const value = source.name('v')
    source.line(`const ${value} = ${struct}.${field.name};`)
    source.line(`if (${value} !== undefined && !isDefault(${source.constant(field)}, ${value})) throw FAILED;`)
  }
  for (let index = 0; index < plan.ordinary.length; ) {
    const run: FieldPlan[] = []
    while (index < plan.ordinary.length && fixedSize(plan.ordinary[index]!) !== null) run.push(plan.ordinary[index++]!)
    if (run.length > 0) emitFixedRun(source, run, struct)
    else emitField(source, plan.ordinary[index]!, emitLoad(source, plan.ordinary[index++]!, struct))
  }
  if (plan.flexible) emitTaggedSection(source, plan, struct)
  else {
    const unknown = source.name('u')
    source.line(`const ${unknown} = ${struct}.unknownTaggedFields ?? undefined;`)
    source.line(`if (${unknown} !== undefined && !(Array.isArray(${unknown}) && ${unknown}.length === 0)) throw FAILED;`)
  }
}

function fixedSize(field: FieldPlan): number | null {
  return field.kind === 'array' || field.kind === 'struct' ? null : FIXED_SIZE[field.kind]
}

/** The field's value, its default where left out. */
function emitLoad(source: Source, field: FieldPlan, struct: string): string {
  const value = source.name('v')
  source.line(`let ${value} = ${struct}.${field.name};`)
  if (field.struct === undefined || field.default === null) {
    const standard =
      field.kind === 'array' && field.default !== null ? source.constant(field.default) : literal(field.default, 'exact')
    source.line(`if (${value} === undefined) ${value} = ${standard};`)
  }
  return value
}

function emitFixedRun(source: Source, run: readonly FieldPlan[], struct: string): void {
  const values = run.map((field) => emitLoad(source, field, struct))
  const size = run.reduce((sum, field) => sum + fixedSize(field)!, 0)
  emitRoom(source, size)
  let at = 0
  run.forEach((field, index) => {
    emitFixed(source, field.kind as PrimitiveKind, values[index]!, at)
    at += fixedSize(field)!
  })
  source.line(`p += ${size};`)
}

/** Checks and writes a primitive of fixed size at p + `at`; the room is there. */
function emitFixed(source: Source, kind: PrimitiveKind, value: string, at: number): void {
  const number = (fits: string) => source.line(`if (typeof ${value} !== 'number' || ${fits} !== ${value}) throw FAILED;`)
  switch (kind) {
    case 'bool':
      source.line(`if (typeof ${value} !== 'boolean') throw FAILED; b[p + ${at}] = ${value} ? 1 : 0;`)
      return
    case 'int8':
      number(`(${value} << 24 >> 24)`)
      source.line(`b[p + ${at}] = ${value};`)
      return
    case 'int16':
    case 'uint16':
      number(kind === 'int16' ? `(${value} << 16 >> 16)` : `(${value} & 65535)`)
      source.line(`d.setInt16(p + ${at}, ${value});`)
      return
    case 'int32':
    case 'uint32':
      number(kind === 'int32' ? `(${value} | 0)` : `(${value} >>> 0)`)
      source.line(`d.setInt32(p + ${at}, ${value});`)
      return
    case 'float64':
      source.line(`if (typeof ${value} !== 'number') throw FAILED; d.setFloat64(p + ${at}, ${value});`)
      return
    case 'uuid':
      source.line(`if (typeof ${value} !== 'string' || !putUuid(b, p + ${at}, ${value})) throw FAILED;`)
      return
    default: {
      source.line(`if (typeof ${value} === 'number' && (${value} | 0) === ${value}) {`)
      source.line(`d.setInt32(p + ${at}, ${value} >> 31); d.setInt32(p + ${at + 4}, ${value});`)
      source.line(`} else putWideInt64(b, p + ${at}, ${value});`)
    }
  }
}

function emitField(source: Source, field: FieldPlan, value: string): void {
  if (!field.nullable && field.struct === undefined) source.line(`if (${value} === null) throw FAILED;`)
  if (field.struct !== undefined) emitStructField(source, field, field.struct, value)
  else if (field.kind === 'array') emitArray(source, field, value)
  else emitPrimitive(source, field.kind as PrimitiveKind, value, field.compact)
}

function emitStructField(source: Source, field: FieldPlan, struct: StructPlan, value: string): void {
  if (field.nullable) {
    emitRoom(source, 1)
    source.line(`if (${value} === null) b[p++] = 255; else { b[p++] = 1;`)
  } else source.line('{')
  const inner = source.name('o')
  source.line(`const ${inner} = ${value} === undefined ? {} : ${value};`)
  emitStruct(source, struct, inner)
  source.line('}')
}

function emitPrimitive(source: Source, kind: PrimitiveKind, value: string, compact: boolean): void {
  const size = FIXED_SIZE[kind]
  if (size !== null) {
    emitRoom(source, size)
    emitFixed(source, kind, value, 0)
    source.line(`p += ${size};`)
  } else if (kind === 'string') {
    source.line(`if (typeof ${value} !== 'string' && ${value} !== null) throw FAILED;`)
    emitCall(source, `writeText(w, ${value}, ${compact})`)
  } else emitCall(source, `${kind === 'bytes' ? 'writeBytes' : 'writeRecords'}(w, ${value}, ${compact})`)
}

function emitLength(source: Source, length: string, compact: boolean): void {
  emitRoom(source, 5)
  if (compact) {
    source.line(`if (${length} < 127) b[p++] = ${length} + 1; else {`)
    emitCall(source, `w.unsignedVarint(${length} + 1)`)
    source.line('}')
  } else {
    source.line(`d.setInt32(p, ${length}); p += 4;`)
  }
}

function emitArray(source: Source, field: FieldPlan, value: string): void {
  if (field.nullable) {
    source.line(`if (${value} === null) {`)
    emitLength(source, '-1', field.compact)
    source.line('} else {')
  } else source.line('{')
  const [index, element] = [source.name('i'), source.name('x')]
  source.line(`if (!Array.isArray(${value})) throw FAILED;`)
  emitLength(source, `${value}.length`, field.compact)
  source.line(`for (let ${index} = 0; ${index} < ${value}.length; ${index}++) { const ${element} = ${value}[${index}];`)
  if (typeof field.item === 'string') {
    source.line(`if (${element} === null || ${element} === undefined) throw FAILED;`)
    emitPrimitive(source, field.item, element, field.compact)
  } else emitStruct(source, field.item!, element)
  source.line('} }')
}

function emitTaggedSection(source: Source, plan: StructPlan, struct: string): void {
  const [unknown, count, next] = [source.name('u'), source.name('c'), source.name('n')]
  source.line(`const ${unknown} = ${struct}.unknownTaggedFields ?? undefined; let ${count} = 0, ${next} = 0;`)
  source.line(
    `if (${unknown} !== undefined) { checkUnknownTags(${source.constant(plan)}, ${unknown}); ${count} = ${unknown}.length; }`,
  )
  const values = plan.tagged.map((field) => {
    const value = source.name('v')
    source.line(`let ${value} = ${struct}.${field.name};`)
    source.line(
      `if (${value} !== undefined) { if (${isDefaultTest(source, field, value)}) ${value} = undefined; else ${count}++; }`,
    )
    return value
  })
  emitRoom(source, 5)
  source.line(`if (${count} === 0) b[p++] = 0; else {`)
  emitCall(source, `w.unsignedVarint(${count})`)
  plan.tagged.forEach((field, index) => {
    const [value, start] = [values[index]!, source.name('s')]
    source.line(`if (${value} !== undefined) {`)
    source.line(`if (${unknown} !== undefined) {`)
    emitCall(source, `${next} = writeUnknownBelow(w, ${unknown}, ${next}, ${field.tag})`)
    source.line('}')
    emitCall(source, `w.unsignedVarint(${field.tag})`)
    emitRoom(source, 1)
    source.line(`const ${start} = p++ - w.chunkStart;`)
    emitField(source, field, value)
    emitCall(source, `closeTaggedField(w, ${start})`)
    source.line('}')
  })
  source.line(`if (${unknown} !== undefined) {`)
  emitCall(source, `writeUnknownBelow(w, ${unknown}, ${next}, 4294967296)`)
  source.line('} }')
}

/** JavaScript that tells whether a given value counts as the default; inline where that is a few comparisons. */
function isDefaultTest(source: Source, field: FieldPlan, value: string): string {
  const inner = field.struct
  const isPlain = (plan: FieldPlan) =>
    plan.kind !== 'struct' && plan.kind !== 'array' && FIXED_SIZE[plan.kind] !== null && plan.kind !== 'int64'
  if (
    inner !== undefined &&
    field.default === undefined &&
    inner.fields.every((child) => isPlain(child) || child.kind === 'int64')
  ) {
    const same = inner.fields.map((child) => {
      const standard = literal(child.default, 'exact')
      return `(${value}.${child.name} === undefined || ${value}.${child.name} === ${standard})`
    })
    const all = [`${value}.unknownTaggedFields === undefined`, ...same].join(' && ')
    return `${value} !== null && (${all} || isDefault(${source.constant(field)}, ${value}))`
  }
  if (isPlain(field) || field.kind === 'string') return `${value} === ${literal(field.default, 'exact')}`
  return `isDefault(${source.constant(field)}, ${value})`
}
