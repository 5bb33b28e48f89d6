// A schema cut down to one version: which fields are on the wire and in which form. Interpreter and compiler both follow it.

import { DEFAULT_VALUE, FIXED_SIZE, type PrimitiveKind } from '../wire/primitives.js'
import type { Field, Fields } from './fields.js'
import type { Message } from './message.js'
import { PerVersion } from './per-version.js'
import { contains } from './versions.js'

export interface StructPlan {
  /** Compact lengths and a tagged section at the end. */
  readonly flexible: boolean
  /** All fields of the schema, in its order: this is the shape of a decoded value. */
  readonly fields: readonly FieldPlan[]
  /** On the wire one after the other. */
  readonly ordinary: readonly FieldPlan[]
  /** In the tagged section, by rising tag. */
  readonly tagged: readonly FieldPlan[]
  /** Not in this version. */
  readonly absent: readonly FieldPlan[]
  /** Bytes that a value takes at least. */
  readonly minSize: number
}

export interface FieldPlan {
  readonly name: string
  readonly kind: PrimitiveKind | 'array' | 'struct'
  readonly nullable: boolean
  readonly compact: boolean
  readonly tag: number
  readonly ignorable: boolean
  readonly clamped: boolean
  /** What a left out or absent field stands for. For a struct: null, or undefined for the struct of defaults. */
  readonly default: unknown
  readonly item: PrimitiveKind | StructPlan | undefined
  readonly struct: StructPlan | undefined
  readonly minSize: number
}

const plans = new PerVersion((schema, version): StructPlan => {
  if (!Number.isInteger(version) || !contains(schema.versions, version))
    throw new RangeError(`${schema.name} has versions ${schema.versions}, not ${version}`)
  return planStruct(schema.fields, version, contains(schema.flexible, version), schema.direction === 'request')
})

/** Throws a RangeError for a version that the message does not have. */
export function planOf(schema: Message, version: number): StructPlan {
  return plans.get(schema, version)
}

function planStruct(fields: Fields, version: number, flexible: boolean, clamps: boolean): StructPlan {
  const all: FieldPlan[] = []
  const ordinary: FieldPlan[] = []
  const tagged: FieldPlan[] = []
  const absent: FieldPlan[] = []
  for (const [name, field] of Object.entries(fields)) {
    const plan = planField(name, field, version, flexible, clamps)
    all.push(plan)
    const list = !contains(field.versions, version) ? absent : plan.tag >= 0 ? tagged : ordinary
    list.push(plan)
  }
  tagged.sort((a, b) => a.tag - b.tag)
  const minSize = ordinary.reduce((sum, field) => sum + field.minSize, flexible ? 1 : 0)
  return { flexible, fields: all, ordinary, tagged, absent, minSize }
}

function planField(name: string, field: Field, version: number, flexible: boolean, clamps: boolean): FieldPlan {
  const struct = field.kind === 'struct' ? planStruct(field.fields, version, flexible, clamps) : undefined
  const item =
    field.kind !== 'array'
      ? undefined
      : typeof field.item === 'string'
        ? field.item
        : planStruct(field.item, version, flexible, clamps)
  const compact = flexible && !('neverCompact' in field && field.neverCompact)
  const nullable = contains(field.nullable, version)
  const isTagged = field.tag !== undefined && contains(field.tagged ?? field.versions, version)
  return {
    name,
    kind: field.kind,
    nullable,
    compact,
    tag: isTagged ? field.tag : -1,
    ignorable: field.ignorable === true,
    clamped: clamps && 'clamped' in field && field.clamped === true,
    default: defaultOf(field, nullable),
    item,
    struct,
    minSize: minSizeOf(field.kind, struct, nullable, compact),
  }
}

function minSizeOf(kind: Field['kind'], struct: StructPlan | undefined, nullable: boolean, compact: boolean): number {
  if (struct !== undefined) return nullable ? 1 : struct.minSize
  if (kind === 'array' || kind === 'bytes' || kind === 'records') return compact ? 1 : 4
  if (kind === 'string') return compact ? 1 : 2
  return FIXED_SIZE[kind as PrimitiveKind] ?? 0
}

function defaultOf(field: Field, nullable: boolean): unknown {
  if (field.default !== undefined) return field.default
  if (field.kind === 'array') return EMPTY_ARRAY
  if (field.kind === 'records' && nullable) return null // as in Kafka, where records are never empty by default
  return field.kind === 'struct' ? undefined : DEFAULT_VALUE[field.kind]
}

const EMPTY_ARRAY: readonly never[] = Object.freeze([])

/** Smallest size of one item of an array. */
export function itemMinSize(item: PrimitiveKind | StructPlan, compact: boolean): number {
  return typeof item === 'string' ? minSizeOf(item, undefined, false, compact) : item.minSize
}

/** A fresh value of all defaults. */
export function defaultsOf(plan: StructPlan): Record<string, unknown> {
  return Object.fromEntries(plan.fields.map((field) => [field.name, defaultValue(field)]))
}

export function defaultValue(field: FieldPlan): unknown {
  if (field.default === EMPTY_ARRAY) return []
  return field.default === undefined && field.struct !== undefined ? defaultsOf(field.struct) : field.default
}
