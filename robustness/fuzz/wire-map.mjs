// Where in a request frame each field stands: what a mutation has to know to change one field and leave the others whole. It reads the
// schemas with code of its own, so that a mistake in the codecs does not hide here as well.
import { apiByKey } from '@mq/protocol'

const FIXED = { bool: 1, int8: 1, int16: 2, uint16: 2, int32: 4, uint32: 4, int64: 8, float64: 8, uuid: 16 }

/**
 * The fields of a frame (without its size), in order: `{ kind, path, at, end }`, and for what has a length or a count `{ contentAt, form }`
 * (`form`: int16, int32 or varint), for arrays `items: [{ at, end }]`. Null when the frame is none of an API and version that we know.
 */
export function mapOf(frame) {
  if (frame.length < 8) return null
  const api = apiByKey(frame.readInt16BE(0))
  const version = frame.readInt16BE(2)
  const range = api?.versions.all
  if (range === undefined || version < range[0] || version > range[1]) return null
  const isFlexible = includes(api.request.flexible, version)
  const map = new Mapper(frame, version, isFlexible)
  try {
    map.fixed('int16', 'apiKey')
    map.fixed('int16', 'apiVersion')
    map.fixed('int32', 'correlationId')
    if (!(api.name === 'ControlledShutdown' && version === 0)) map.sized('string', 'clientId', 'int16')
    if (isFlexible) map.tagged({}, 'header')
    map.struct(api.request.fields, api.name)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
  return { api: api.name, version, fields: map.fields }
}

class Mapper {
  fields = []
  #frame
  #at = 0
  #version
  #isFlexible

  constructor(frame, version, isFlexible) {
    this.#frame = frame
    this.#version = version
    this.#isFlexible = isFlexible
  }

  fixed(kind, path) {
    const at = this.#at
    this.#at += FIXED[kind]
    if (this.#at > this.#frame.length) throw new RangeError(path)
    this.fields.push({ kind, path, at, end: this.#at })
  }

  /** string, bytes or records: a length and as many bytes; a negative one (compact: 0) is null. */
  sized(kind, path, form) {
    const at = this.#at
    const length = this.#length(form)
    const contentAt = this.#at
    this.#at += Math.max(length, 0)
    if (this.#at > this.#frame.length) throw new RangeError(path)
    this.fields.push({ kind, path, at, contentAt, end: this.#at, form })
  }

  struct(fields, path) {
    for (const [name, field] of Object.entries(fields)) {
      if (!includes(field.versions, this.#version) || isTagged(field, this.#version)) continue
      this.#field(field, `${path}.${name}`)
    }
    if (this.#isFlexible) this.tagged(fields, path)
  }

  tagged(fields, path) {
    const at = this.#at
    const count = this.#varint()
    this.fields.push({ kind: 'tags', path: `${path}.tags`, at, contentAt: this.#at, end: this.#at, form: 'varint' })
    for (let each = 0; each < count; each++) {
      const number = this.#varint()
      const sizeAt = this.#at
      const size = this.#varint()
      const end = this.#at + size
      this.fields.push({
        kind: 'tag size',
        path: `${path}.tag ${number}`,
        at: sizeAt,
        contentAt: this.#at,
        end: this.#at,
        form: 'varint',
      })
      const known = Object.entries(fields).find(([, field]) => field.tag === number && isTagged(field, this.#version))
      if (known !== undefined) this.#field(known[1], `${path}.${known[0]}`)
      this.#at = end
      if (this.#at > this.#frame.length) throw new RangeError(path)
    }
  }

  #field(field, path) {
    if (field.kind === 'array') return this.#array(field, path)
    if (field.kind === 'struct') {
      // A struct that may be null begins with a byte that says so.
      if (includes(field.nullable, this.#version)) {
        this.fixed('int8', `${path}?`)
        if (this.#frame.readInt8(this.#at - 1) < 0) return
      }
      return this.struct(field.fields, path)
    }
    if (field.kind in FIXED) return this.fixed(field.kind, path)
    const wide = field.kind === 'string' ? 'int16' : 'int32'
    this.sized(field.kind, path, this.#isFlexible && !field.neverCompact ? 'varint' : wide)
  }

  #array(field, path) {
    const at = this.#at
    const form = this.#isFlexible ? 'varint' : 'int32'
    const count = this.#length(form)
    const items = []
    const array = { kind: 'array', path, at, contentAt: this.#at, end: this.#at, form, items }
    this.fields.push(array)
    for (let each = 0; each < count; each++) {
      const from = this.#at
      if (typeof field.item === 'string') this.#field({ kind: field.item, nullable: 'none' }, `${path}[]`)
      else this.struct(field.item, `${path}[]`)
      items.push({ at: from, end: this.#at })
    }
    array.end = this.#at
  }

  #length(form) {
    if (form === 'varint') return this.#varint() - 1
    const at = this.#at
    this.#at += form === 'int16' ? 2 : 4
    return form === 'int16' ? this.#frame.readInt16BE(at) : this.#frame.readInt32BE(at)
  }

  #varint() {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#frame.readUInt8(this.#at++)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new RangeError('varint')
  }
}

const isTagged = (field, version) => field.tag !== undefined && includes(field.tagged ?? field.versions, version)

/** Whether `4+`, `2-5`, `3` or `none` has this version. */
export function includes(versions, version) {
  if (versions === undefined || versions === 'none') return false
  const [from, to] = versions.endsWith('+')
    ? [Number(versions.slice(0, -1)), Number.POSITIVE_INFINITY]
    : versions.split('-').map(Number)
  return version >= from && version <= (to ?? from)
}

/** A length or count in its form; compact ones count from 1. */
export function lengthBytes(form, length) {
  if (form === 'varint') return varint(length + 1)
  const bytes = Buffer.alloc(form === 'int16' ? 2 : 4)
  if (form === 'int16') bytes.writeInt16BE((length << 16) >> 16)
  else bytes.writeInt32BE(length | 0)
  return bytes
}

export function varint(value) {
  const bytes = []
  let left = value >>> 0
  while (left > 0x7f) {
    bytes.push((left & 0x7f) | 0x80)
    left >>>= 7
  }
  return Buffer.from([...bytes, left])
}
