// The vocabulary of the schema language: one constructor per kind of field. A field is plain data; what it says about kind and
// nullability is also in its type, from which message.ts infers the shape of decoded and encodable values.

import type { PrimitiveKind } from '../wire/primitives.js'
import type { Versions } from './versions.js'

/** What every field may say beside its kind. `Null` are the versions in which it may be null ('none': never). */
export interface FieldOptions<Value, Null extends Versions = Versions> {
  /** Versions in which null is allowed. */
  readonly nullable?: Null
  /** Value when the version lacks the field or the caller leaves it out. Default: zero, empty, false. */
  readonly default?: Value
  /** May be dropped silently in versions that lack it (KIP-482 calls it so); otherwise a non-default value is an EncodeError. */
  readonly ignorable?: true
  /** Number in the tagged section (KIP-482). */
  readonly tag?: number
  /** Versions in which it is tagged. Default: all of its own. */
  readonly tagged?: Versions
  /** Part of the key where an array is a map in Java. Documentation only. */
  readonly mapKey?: true
}

export interface FieldBase<Null extends Versions> {
  readonly versions: Versions
  readonly nullable: Null
  readonly default?: unknown
  readonly ignorable?: true
  readonly tag?: number
  readonly tagged?: Versions
  readonly mapKey?: true
}

export interface PrimitiveField<Kind extends PrimitiveKind = PrimitiveKind, Null extends Versions = Versions>
  extends FieldBase<Null> {
  readonly kind: Kind
  /** int64 only: holds an offset or a timestamp, so that the safe reading of a request may clamp it. */
  readonly clamped?: true
  /** string only: never in the compact form (the client id of the request header). */
  readonly neverCompact?: true
}

export interface ArrayField<Item extends PrimitiveKind | Fields = PrimitiveKind | Fields, Null extends Versions = Versions>
  extends FieldBase<Null> {
  readonly kind: 'array'
  readonly item: Item
}

export interface StructField<Inner extends Fields = Fields, Null extends Versions = Versions> extends FieldBase<Null> {
  readonly kind: 'struct'
  readonly fields: Inner
}

export type Field = PrimitiveField | ArrayField | StructField
export interface Fields {
  readonly [name: string]: Field
}

/** The nullable versions that options name, as a type. */
type NullOf<Options> = Options extends { readonly nullable: infer Null extends Versions } ? Null : 'none'

function primitive<Kind extends PrimitiveKind, Value>(kind: Kind) {
  return <const Options extends FieldOptions<Value | null> = object>(
    versions: Versions,
    options?: Options,
  ): PrimitiveField<Kind, NullOf<Options>> =>
    ({ kind, versions, nullable: 'none', ...options }) as unknown as PrimitiveField<Kind, NullOf<Options>>
}

function nullablePrimitive<Kind extends PrimitiveKind, Value>(kind: Kind) {
  return <const Own extends Versions>(versions: Own, options?: FieldOptions<Value | null, Own>): PrimitiveField<Kind, Own> =>
    ({ kind, versions, nullable: versions, ...options }) as PrimitiveField<Kind, Own>
}

function wholeNumber<Kind extends PrimitiveKind>(kind: Kind, clamped?: true) {
  return (versions: Versions, options?: FieldOptions<number | bigint, never>): PrimitiveField<Kind, 'none'> => ({
    kind,
    versions,
    nullable: 'none',
    ...(clamped && { clamped }),
    ...options,
  })
}

export const bool: (versions: Versions, options?: FieldOptions<boolean, never>) => PrimitiveField<'bool', 'none'> = (
  versions,
  options,
) => ({ kind: 'bool', versions, nullable: 'none', ...options })
export const int8 = wholeNumber('int8')
export const int16 = wholeNumber('int16')
export const uint16 = wholeNumber('uint16')
export const int32 = wholeNumber('int32')
export const uint32 = wholeNumber('uint32')
export const int64 = wholeNumber('int64')
/** An int64 that is a place in a log. */
export const offset = wholeNumber('int64', true)
/** An int64 that is a moment, in milliseconds since 1970. */
export const timestamp = wholeNumber('int64', true)
export const float64 = wholeNumber('float64')
export const uuid: (versions: Versions, options?: FieldOptions<string, never>) => PrimitiveField<'uuid', 'none'> = (
  versions,
  options,
) => ({ kind: 'uuid', versions, nullable: 'none', ...options })
export const string = primitive<'string', string>('string')
export const bytes = primitive<'bytes', Buffer>('bytes')
export const records = primitive<'records', Buffer>('records')
export const nullableString = nullablePrimitive<'string', string>('string')
export const nullableBytes = nullablePrimitive<'bytes', Buffer>('bytes')
export const nullableRecords = nullablePrimitive<'records', Buffer>('records')

/** A string that keeps its int16 length in flexible versions too. */
export const neverCompactString = <const Own extends Versions>(versions: Own): PrimitiveField<'string', Own> => ({
  kind: 'string',
  versions,
  nullable: versions,
  neverCompact: true,
})

/** Items are a primitive, by its name, or structs, by their fields. */
export const array = <const Item extends PrimitiveKind | Fields, const Options extends FieldOptions<null> = object>(
  versions: Versions,
  item: Item,
  options?: Options,
): ArrayField<Item, NullOf<Options>> =>
  ({ kind: 'array', versions, nullable: 'none', item, ...options }) as unknown as ArrayField<Item, NullOf<Options>>

export const nullableArray = <const Own extends Versions, const Item extends PrimitiveKind | Fields>(
  versions: Own,
  item: Item,
  options?: FieldOptions<null, Own>,
): ArrayField<Item, Own> => ({ kind: 'array', versions, nullable: versions, item, ...options }) as ArrayField<Item, Own>

export const struct = <const Inner extends Fields>(
  versions: Versions,
  fields: Inner,
  options?: FieldOptions<never, never>,
): StructField<Inner, 'none'> => ({ kind: 'struct', versions, nullable: 'none', fields, ...options })

export const nullableStruct = <const Own extends Versions, const Inner extends Fields>(
  versions: Own,
  fields: Inner,
  options?: FieldOptions<null, Own>,
): StructField<Inner, Own> => ({ kind: 'struct', versions, nullable: versions, fields, ...options }) as StructField<Inner, Own>
