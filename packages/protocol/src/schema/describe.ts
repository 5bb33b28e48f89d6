// A schema as text, for the docs; a decoded body as plain JSON, for dumps.

import { ZERO_UUID } from '../wire/primitives.js'
import type { Field, Fields } from './fields.js'
import type { Message } from './message.js'
import { contains } from './versions.js'

/** One line per field: name, type, versions, and what else there is to say. Without a version all fields, else those it has. */
export function describeSchema(schema: Message, version?: number): string {
  const flexible = schema.flexible === 'none' ? '' : `, flexible ${schema.flexible}`
  return [`${schema.name} ${schema.versions}${flexible}`, ...describeFields(schema.fields, version, '  ')].join('\n')
}

function describeFields(fields: Fields, version: number | undefined, indent: string): string[] {
  const present = Object.entries(fields).filter(([, field]) => version === undefined || contains(field.versions, version))
  const width = Math.max(0, ...present.map(([name, field]) => `${name}: ${typeOf(field)}`.length))
  return present.flatMap(([name, field]) => {
    const head = `${name}: ${typeOf(field)}`.padEnd(width)
    const line = `${indent}${head}  ${[field.versions, ...remarks(field)].join('  ')}`
    const inner =
      field.kind === 'struct' ? field.fields : field.kind === 'array' && typeof field.item !== 'string' ? field.item : {}
    return [line, ...describeFields(inner, version, `${indent}  `)]
  })
}

function typeOf(field: Field): string {
  if (field.kind === 'array') return typeof field.item === 'string' ? `${field.item}[]` : '[]'
  return field.kind === 'struct' ? '{}' : field.kind
}

function remarks(field: Field): string[] {
  const { nullable, tag, tagged, ignorable } = field
  return [
    ...(nullable === 'none' ? [] : [nullable === field.versions ? 'nullable' : `nullable ${nullable}`]),
    ...(field.default === undefined ? [] : [`default ${field.default}`]),
    ...(tag === undefined ? [] : [tagged === undefined ? `tag ${tag}` : `tag ${tag} in ${tagged}`]),
    ...(ignorable ? ['ignorable'] : []),
  ]
}

/**
 * A decoded body as JSON can hold it: bytes and records as base64, an int64 beyond the safe range as its digits. Fields that the
 * version lacks are left out, and so are zero uuids of tagged fields.
 */
export function toJson(schema: Message, version: number, body: object): Record<string, unknown> {
  return fieldsToJson(schema.fields, version, body as Record<string, unknown>)
}

function fieldsToJson(fields: Fields, version: number, value: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const inner = value[name]
    const isDefaultTag = field.tag !== undefined && (inner === ZERO_UUID || inner === field.default)
    if (contains(field.versions, version) && !isDefaultTag) result[name] = fieldToJson(field, version, inner)
  }
  if (value.unknownTaggedFields !== undefined) result.unknownTaggedFields = leafToJson(value.unknownTaggedFields)
  return result
}

function fieldToJson(field: Field, version: number, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (field.kind === 'struct') return fieldsToJson(field.fields, version, value as Record<string, unknown>)
  if (field.kind !== 'array' || typeof field.item === 'string') return leafToJson(value)
  const { item } = field
  return (value as Record<string, unknown>[]).map((element) => fieldsToJson(item, version, element))
}

function leafToJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (Array.isArray(value)) return value.map(leafToJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, leafToJson(inner)]))
}
