// Writes the function that reads one message in one version: all loops and structs inline, consecutive fields of fixed size behind
// one bounds check, no calls but for strings, uuids and long varints. It never says what is wrong: it throws FAILED and codec.ts
// has the interpreter find the place.

import { InvariantError } from '../wire/failures.js'
import { EMPTY_BYTES, FIXED_SIZE, type Int64Reading, MAX_STRING_BYTES, type PrimitiveKind } from '../wire/primitives.js'
import { canBeWrittenAgain, type Reader, uuidAt } from '../wire/reader.js'
import { Slab } from '../wire/slab.js'
import { type FieldPlan, itemMinSize, type StructPlan } from './plan.js'
import { defaultLiteral, Source } from './source.js'
import { readLongVarint, readText } from './text.js'

/** Thrown by generated code: something does not fit, ask the interpreter what. */
export const FAILED = new Error('generated code gave up')

/** Arrays up to this length are made at once; longer ones grow. */
const PREALLOCATED = 1 << 16

export function compileRead(name: string, plan: StructPlan, int64: Int64Reading): (reader: Reader) => unknown {
  const source = new Source()
  source.line(
    'const b = r.bytes, d = viewOf(b), q = b.byteOffset; let p = r.at, e = r.end, n = 0, h = 0, l = 0, m = r.itemsLeft;',
  )
  const value = emitStruct(source, plan, int64)
  source.line(`r.at = p; r.itemsLeft = m; return ${value};`)
  const body = `'use strict'; return function read${name}(r) {\n${source}\n}`
  const make = new Function('FAILED', 'EMPTY', 'viewOf', 'readText', 'readLongVarint', 'uuidAt', 'canBeWrittenAgain', body)
  return make(FAILED, EMPTY_BYTES, viewOf, readText, readLongVarint, uuidAt, canBeWrittenAgain)
}

/** A DataView reads a number in one step where bytes take four; over memory of this size the last one is kept. */
const SHARED_MEMORY = 1 << 16
let lastMemory: ArrayBufferLike | undefined
let lastView: DataView = new DataView(new ArrayBuffer(0))

/** A view over all the memory that `bytes` lies in: add `byteOffset`. */
function viewOf(bytes: Buffer): DataView {
  const memory = bytes.buffer
  if (memory === lastMemory) return lastView
  if (memory instanceof Slab) return memory.view
  const view = new DataView(memory)
  if (memory.byteLength <= SHARED_MEMORY) {
    lastMemory = memory
    lastView = view
  }
  return view
}

/** Returns the variable that holds the struct. */
function emitStruct(source: Source, plan: StructPlan, int64: Int64Reading): string {
  const variables = new Map<FieldPlan, string>()
  for (let index = 0; index < plan.ordinary.length; ) {
    const run = fixedRun(plan.ordinary, index)
    if (run.length > 0) {
      emitFixedRun(source, run, variables, int64)
      index += run.length
    } else {
      const field = plan.ordinary[index++]!
      const variable = source.name('v')
      source.line(`let ${variable};`)
      emitField(source, field, variable, int64)
      variables.set(field, variable)
    }
  }
  const unknown = plan.flexible ? emitTaggedSection(source, plan, variables, int64) : undefined
  const properties = plan.fields.map((field) => `${field.name}: ${variables.get(field) ?? defaultLiteral(field, int64)}`)
  const struct = source.name('o')
  source.line(`const ${struct} = { ${properties.join(', ')} };`)
  if (unknown !== undefined) source.line(`if (${unknown} !== undefined) ${struct}.unknownTaggedFields = ${unknown};`)
  return struct
}

function fixedSize(field: FieldPlan): number | null {
  return field.kind === 'array' || field.kind === 'struct' ? null : FIXED_SIZE[field.kind]
}

function fixedRun(fields: readonly FieldPlan[], from: number): readonly FieldPlan[] {
  let to = from
  while (to < fields.length && fixedSize(fields[to]!) !== null) to++
  return fields.slice(from, to)
}

function emitFixedRun(source: Source, run: readonly FieldPlan[], variables: Map<FieldPlan, string>, int64: Int64Reading): void {
  const size = run.reduce((sum, field) => sum + fixedSize(field)!, 0)
  source.line(`if (e - p < ${size}) throw FAILED;`)
  let at = 0
  for (const field of run) {
    const variable = source.name('v')
    source.line(`let ${variable};`)
    emitFixed(source, field.kind as PrimitiveKind, variable, at, field.clamped, int64)
    variables.set(field, variable)
    at += fixedSize(field)!
  }
  source.line(`p += ${size};`)
}

/** Reads a primitive of fixed size at p + `at`, bounds already checked. */
function emitFixed(source: Source, kind: PrimitiveKind, target: string, at: number, clamped: boolean, int64: Int64Reading): void {
  if (kind !== 'int64') {
    source.line(`${target} = ${fixedExpression(kind, at)};`)
    return
  }
  const beyond =
    int64 === 'exact'
      ? `${target} = d.getBigInt64(q + p + ${at})`
      : clamped
        ? `${target} = h < 0 ? ${Number.MIN_SAFE_INTEGER} : ${Number.MAX_SAFE_INTEGER}`
        : 'throw FAILED'
  source.line(`h = ${fixedExpression('int32', at)}; l = ${fixedExpression('uint32', at + 4)}; ${target} = h * 4294967296 + l;`)
  source.line(`if (h > 2097151 || h <= -2097152 && (h < -2097152 || l === 0)) ${beyond};`)
}

function fixedExpression(kind: PrimitiveKind, at: number): string {
  switch (kind) {
    case 'bool':
      return `b[p + ${at}] !== 0`
    case 'int8':
      return `b[p + ${at}] << 24 >> 24`
    case 'int16':
      return `d.getInt16(q + p + ${at})`
    case 'uint16':
      return `d.getUint16(q + p + ${at})`
    case 'int32':
      return `d.getInt32(q + p + ${at})`
    case 'uint32':
      return `d.getUint32(q + p + ${at})`
    case 'float64':
      return `d.getFloat64(q + p + ${at})`
    case 'uuid':
      return `uuidAt(b, p + ${at})`
    default:
      throw new InvariantError(`${kind} has no fixed size`)
  }
}

function emitVarint(source: Source, target: string): void {
  source.line(`if (p >= e) throw FAILED; ${target} = b[p++];`)
  source.line(`if (${target} > 127) { ${target} = readLongVarint(r, b, p - 1, e, FAILED); p = r.at; }`)
}

/** Leaves the length in n: negative is null. */
function emitLength(source: Source, bytes: 2 | 4, compact: boolean): void {
  if (compact) {
    emitVarint(source, 'n')
    source.line('n--;')
  } else {
    source.line(`if (e - p < ${bytes}) throw FAILED;`)
    emitFixed(source, bytes === 2 ? 'int16' : 'int32', 'n', 0, false, 'safe')
    source.line(`p += ${bytes};`)
  }
}

function emitField(source: Source, field: FieldPlan, target: string, int64: Int64Reading): void {
  if (field.struct !== undefined) emitStructField(source, field, field.struct, target, int64)
  else if (field.kind === 'array') emitArray(source, field, target, int64)
  else emitPrimitive(source, field, field.kind as PrimitiveKind, field.nullable, target, int64)
}

function emitStructField(source: Source, field: FieldPlan, struct: StructPlan, target: string, int64: Int64Reading): void {
  if (field.nullable) {
    source.line(`if (p >= e) throw FAILED;`)
    source.line(`if (b[p++] > 127) ${target} = null; else {`)
  } else source.line('{')
  source.line(`${target} = ${emitStruct(source, struct, int64)};`)
  source.line('}')
}

function emitPrimitive(
  source: Source,
  field: FieldPlan,
  kind: PrimitiveKind,
  nullable: boolean,
  target: string,
  int64: Int64Reading,
): void {
  const size = FIXED_SIZE[kind]
  if (size !== null) {
    source.line(`if (e - p < ${size}) throw FAILED;`)
    emitFixed(source, kind, target, 0, field.clamped, int64)
    source.line(`p += ${size};`)
    return
  }
  const isText = kind === 'string'
  emitLength(source, isText ? 2 : 4, field.compact)
  const tooLong = isText
    ? `n > ${MAX_STRING_BYTES} || e - p < n || (n > ${Math.floor(MAX_STRING_BYTES / 3)} && !canBeWrittenAgain(b, p, n))`
    : 'e - p < n'
  if (nullable) source.line(`if (n < 0) ${target} = null; else { if (${tooLong}) throw FAILED;`)
  else source.line(`{ if (n < 0 || ${tooLong}) throw FAILED;`)
  source.line(isText ? `${target} = readText(b, p, n);` : `${target} = n === 0 ? EMPTY : b.subarray(p, p + n);`)
  source.line('p += n; }')
}

function emitArray(source: Source, field: FieldPlan, target: string, int64: Int64Reading): void {
  const item = field.item!
  emitLength(source, 4, field.compact)
  const minSize = Math.max(1, itemMinSize(item, field.compact))
  const tooMany = minSize === 1 ? 'n > e - p' : `n * ${minSize} > e - p`
  if (field.nullable) source.line(`if (n < 0) ${target} = null; else { if (${tooMany}) throw FAILED;`)
  else source.line(`{ if (n < 0 || ${tooMany}) throw FAILED;`)
  source.line('if (n > m) throw FAILED; m -= n;')
  if (typeof item === 'string' && FIXED_SIZE[item] !== null) emitFixedItems(source, field, item, FIXED_SIZE[item], target, int64)
  else emitItems(source, field, item, target, int64)
  source.line('}')
}

function emitItems(
  source: Source,
  field: FieldPlan,
  item: PrimitiveKind | StructPlan,
  target: string,
  int64: Int64Reading,
): void {
  const [count, index, element] = [source.name('c'), source.name('i'), source.name('x')]
  source.line(`const ${count} = n; ${target} = ${count} > 0 && ${count} < ${PREALLOCATED} ? new Array(${count}) : [];`)
  source.line(`for (let ${index} = 0; ${index} < ${count}; ${index}++) {`)
  if (typeof item === 'string') {
    source.line(`let ${element};`)
    emitPrimitive(source, field, item, false, element, int64)
    source.line(`${target}[${index}] = ${element};`)
  } else source.line(`${target}[${index}] = ${emitStruct(source, item, int64)};`)
  source.line('}')
}

/** Items of fixed size: their bytes are there already. Up to three (replicas, most often) make an array literal, the cheapest kind. */
function emitFixedItems(
  source: Source,
  field: FieldPlan,
  item: PrimitiveKind,
  size: number,
  target: string,
  int64: Int64Reading,
): void {
  const items = ['x', 'x', 'x'].map((hint) => source.name(hint))
  const index = source.name('i')
  source.line(`let ${items.join(', ')}; switch (n) { case 0: ${target} = []; break;`)
  for (let count = 1; count <= items.length; count++) {
    source.line(`case ${count}:`)
    for (let at = 0; at < count; at++) emitFixed(source, item, items[at]!, at * size, field.clamped, int64)
    source.line(`${target} = [${items.slice(0, count).join(', ')}]; break;`)
  }
  source.line(`default: ${target} = n < ${PREALLOCATED} ? new Array(n) : [];`)
  source.line(`for (let ${index} = 0; ${index} < n; ${index}++, p += ${size}) {`)
  emitFixed(source, item, items[0]!, 0, field.clamped, int64)
  source.line(`${target}[${index}] = ${items[0]}; }`)
  source.line(`p -= n * ${size}; } p += n * ${size};`)
}

/** Returns the variable of the unknown tagged fields. */
function emitTaggedSection(source: Source, plan: StructPlan, variables: Map<FieldPlan, string>, int64: Int64Reading): string {
  for (const field of plan.tagged) {
    const variable = source.name('v')
    source.line(`let ${variable} = ${defaultLiteral(field, int64)};`)
    variables.set(field, variable)
  }
  const [unknown, count, index] = [source.name('u'), source.name('c'), source.name('i')]
  const [tag, size, end] = [source.name('t'), source.name('s'), source.name('e')]
  source.line(`let ${unknown}; if (p >= e) throw FAILED;`)
  source.line('if (b[p] === 0) p++; else {') // by far the most frequent case: nothing tagged
  source.line(`let ${count} = 0, ${tag} = 0, ${size} = 0;`)
  emitVarint(source, count)
  source.line(`if (${count} > m) throw FAILED; m -= ${count};`)
  source.line(`for (let ${index} = 0; ${index} < ${count}; ${index}++) {`)
  emitVarint(source, tag)
  emitVarint(source, size)
  source.line(`if (${size} > e - p) throw FAILED;`)
  source.line(`switch (${tag}) {`)
  for (const field of plan.tagged) {
    source.line(`case ${field.tag}: { const ${end} = e; e = p + ${size};`)
    emitField(source, field, variables.get(field)!, int64)
    source.line(`if (p !== e) throw FAILED; e = ${end}; break; }`)
  }
  source.line(`default: (${unknown} ??= []).push({ tag: ${tag}, data: b.subarray(p, p + ${size}) }); p += ${size};`)
  source.line('} } }')
  return unknown
}
