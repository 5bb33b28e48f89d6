// A message: a name, its versions and its fields. From it come the type of what is decoded (Body) and of what is encoded (Input).

import type { PrimitiveKind } from '../wire/primitives.js'
import type { ArrayField, Field, Fields, PrimitiveField, StructField } from './fields.js'
import type { Versions } from './versions.js'

export interface MessageOptions {
  /** API key of a request or response, record type of a metadata record. */
  readonly key?: number
  /** Versions that exist, over all the releases we know. */
  readonly versions: Versions
  /** Versions with compact lengths and tagged fields (KIP-482). Default: none. */
  readonly flexible?: Versions
}

export interface Message<F extends Fields = Fields> {
  readonly name: string
  readonly direction: 'request' | 'response' | 'data'
  readonly key: number | undefined
  readonly versions: Versions
  readonly flexible: Versions
  readonly fields: F
}

export function message<const F extends Fields>(name: string, options: MessageOptions, fields: F): Message<F> {
  const direction = name.endsWith('Request') ? 'request' : name.endsWith('Response') ? 'response' : 'data'
  return { name, direction, key: options.key, versions: options.versions, flexible: options.flexible ?? 'none', fields }
}

/** A tagged field that the schema does not know: kept when read, written again in its place. */
export interface UnknownTaggedField {
  readonly tag: number
  readonly data: Buffer
}

interface DecodedPrimitives<Int64> {
  bool: boolean
  int8: number
  int16: number
  uint16: number
  int32: number
  uint32: number
  int64: Int64
  float64: number
  uuid: string
  string: string
  bytes: Buffer
  records: Buffer
}

interface EncodablePrimitives extends Omit<DecodedPrimitives<number | bigint>, 'records'> {
  records: Buffer | readonly Buffer[]
}

type OrNull<Value, Null> = Null extends 'none' ? Value : Value | null

type DecodedItem<Item, Int64> = Item extends PrimitiveKind
  ? DecodedPrimitives<Int64>[Item]
  : Item extends Fields
    ? DecodedFields<Item, Int64>
    : never

type Decoded<F extends Field, Int64> =
  F extends PrimitiveField<infer Kind, infer Null>
    ? OrNull<DecodedPrimitives<Int64>[Kind], Null>
    : F extends ArrayField<infer Item, infer Null>
      ? OrNull<DecodedItem<Item, Int64>[], Null>
      : F extends StructField<infer Inner, infer Null>
        ? OrNull<DecodedFields<Inner, Int64>, Null>
        : never

type DecodedFields<F extends Fields, Int64> = { -readonly [Name in keyof F]: Decoded<F[Name], Int64> } & {
  unknownTaggedFields?: UnknownTaggedField[]
}

type EncodableItem<Item> = Item extends PrimitiveKind
  ? EncodablePrimitives[Item]
  : Item extends Fields
    ? EncodableFields<Item>
    : never

type Encodable<F extends Field> =
  F extends PrimitiveField<infer Kind, infer Null>
    ? OrNull<EncodablePrimitives[Kind], Null>
    : F extends ArrayField<infer Item, infer Null>
      ? OrNull<readonly EncodableItem<Item>[], Null>
      : F extends StructField<infer Inner, infer Null>
        ? OrNull<EncodableFields<Inner>, Null>
        : never

type EncodableFields<F extends Fields> = { readonly [Name in keyof F]?: Encodable<F[Name]> | undefined } & {
  readonly unknownTaggedFields?: readonly UnknownTaggedField[]
}

/**
 * The decoded form: every field is there, those that a version lacks with their default. int64 is a number (safe reading) unless
 * `Int64` says otherwise. Bytes and records are views of what was read, not copies. A uuid is 22 characters of base64url.
 */
export type Body<S extends Message, Int64 = number> = S extends Message<infer F> ? DecodedFields<F, Int64> : never

/** What can be encoded: any field may be left out and takes its default; records may be several slices, which are not copied. */
export type Input<S extends Message> = S extends Message<infer F> ? EncodableFields<F> : never
