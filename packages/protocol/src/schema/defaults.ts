// When does a value count as its field's default? Then a tagged field is not written, and a version may lack the field.

import type { FieldPlan, StructPlan } from './plan.js'

/** `value` is what the caller gave, `undefined` when left out. */
export function isDefault(field: FieldPlan, value: unknown): boolean {
  if (value === undefined) return true
  const standard = field.default
  if (value === null || standard === null) return value === standard
  if (field.struct !== undefined) return isDefaultStruct(field.struct, value)
  if (field.kind === 'array') return Array.isArray(value) && value.length === 0
  if (field.kind === 'bytes' || field.kind === 'records') return (value as Buffer).length === 0
  // A number and a bigint of the same value are the same int64.
  return value === standard || (typeof value === 'bigint' && typeof standard === 'number' && value === BigInt(standard))
}

function isDefaultStruct(plan: StructPlan, value: unknown): boolean {
  const struct = value as Record<string, unknown>
  const unknown = struct.unknownTaggedFields as readonly unknown[] | undefined
  return (unknown === undefined || unknown.length === 0) && plan.fields.every((field) => isDefault(field, struct[field.name]))
}
