// The codec of one message in one version, made on first use and kept; and the few functions around it that most callers want.

import { DecodeError, EncodeError, InvariantError } from '../wire/failures.js'
import type { Int64Reading } from '../wire/primitives.js'
import { Reader } from '../wire/reader.js'
import { Writer } from '../wire/writer.js'
import { compileRead, FAILED } from './compile-read.js'
import { compileWrite } from './compile-write.js'
import { interpretRead, interpretWrite } from './interpret.js'
import type { Body, Input, Message } from './message.js'
import { PerVersion } from './per-version.js'
import { planOf, type StructPlan } from './plan.js'
import { contains } from './versions.js'

export interface Codec<S extends Message = Message> {
  /** Reads a body from where the reader stands. Throws DecodeError. */
  read(reader: Reader): Body<S>
  read(reader: Reader, int64: 'exact'): Body<S, number | bigint>
  /** Throws EncodeError; then nothing has been written. */
  write(writer: Writer, input: Input<S>): void
}

/** False where `new Function` is forbidden (--disallow-code-generation-from-strings, some sandboxes). */
const canGenerate = (() => {
  try {
    return new Function('return true')() as boolean
  } catch {
    return false
  }
})()

const codecs = new PerVersion(canGenerate ? compiledCodec : interpretedCodec)

/** Throws a RangeError when the message has no such version. */
export function codecOf<S extends Message>(schema: S, version: number): Codec<S> {
  return codecs.get(schema, version) as unknown as Codec<S>
}

/** The codec of generated code. Each function is written on its first use; the input has no say in what is written. */
export function compiledCodec<S extends Message>(schema: S, version: number): Codec<S> {
  return new CompiledCodec(schema, version) as unknown as Codec<S>
}

class CompiledCodec {
  readonly #schema: Message
  readonly #version: number
  readonly #plan: StructPlan
  #readSafe: ((reader: Reader) => unknown) | undefined
  #readExact: ((reader: Reader) => unknown) | undefined
  #write: ((writer: Writer, input: unknown) => void) | undefined

  constructor(schema: Message, version: number) {
    this.#schema = schema
    this.#version = version
    this.#plan = planOf(schema, version)
  }

  get #name(): string {
    return `${this.#schema.name}V${this.#version}`
  }

  read(reader: Reader, int64: Int64Reading = 'safe'): unknown {
    const start = reader.at
    try {
      if (int64 === 'exact') {
        this.#readExact ??= compileRead(this.#name, this.#plan, int64)
        return this.#readExact(reader)
      }
      this.#readSafe ??= compileRead(this.#name, this.#plan, int64)
      return this.#readSafe(reader)
    } catch (error) {
      if (error !== FAILED) throw error
      reader.at = start
      interpretRead(this.#schema, this.#version, reader, int64) // throws, and says where
      throw new InvariantError(`${this.#name}: generated code and interpreter disagree on what can be read`)
    }
  }

  write(writer: Writer, input: unknown): void {
    const mark = writer.mark()
    try {
      this.#write ??= compileWrite(this.#name, this.#plan)
      this.#write(writer, input)
    } catch (error) {
      writer.reset(mark)
      if (error !== FAILED && !(error instanceof EncodeError)) throw error
      try {
        interpretWrite(this.#schema, this.#version, writer, input) // throws, and says where
      } finally {
        writer.reset(mark)
      }
      throw new InvariantError(`${this.#name}: generated code and interpreter disagree on what can be written`)
    }
  }
}

/** The codec that generates no code. */
export function interpretedCodec<S extends Message>(schema: S, version: number): Codec<S> {
  planOf(schema, version)
  return {
    read: (reader: Reader, int64: Int64Reading = 'safe') => interpretRead(schema, version, reader, int64),
    write(writer: Writer, input: Input<S>) {
      const mark = writer.mark()
      try {
        interpretWrite(schema, version, writer, input)
      } catch (error) {
        writer.reset(mark)
        throw error
      }
    },
  } as Codec<S>
}

export function encodeBody<S extends Message>(schema: S, version: number, input: Input<S>): Buffer {
  const writer = new Writer()
  codecOf(schema, version).write(writer, input)
  return writer.toBuffer()
}

/** Reads a body; bytes behind it are ignored, as Kafka ignores them. int64 is a number unless `exact` is asked for. */
export function decodeBody<S extends Message>(schema: S, version: number, bytes: Buffer, options?: { int64?: 'safe' }): Body<S>
export function decodeBody<S extends Message>(
  schema: S,
  version: number,
  bytes: Buffer,
  options: { int64: Int64Reading },
): Body<S, number | bigint>
export function decodeBody(schema: Message, version: number, bytes: Buffer, options: { int64?: Int64Reading } = {}): unknown {
  const reader = new Reader(bytes)
  const codec = codecOf(schema, version)
  return options.int64 === 'exact' ? codec.read(reader, 'exact') : codec.read(reader)
}

/** A record of a coordinator's log: an int16 (the version; in a key of Kafka 4 the record type), then the body. */
export function encodeVersioned<S extends Message>(schema: S, version: number, input: Input<S>): Buffer {
  const writer = new Writer()
  writer.int16(version)
  codecOf(schema, version).write(writer, input)
  return writer.toBuffer()
}

export function decodeVersioned<S extends Message>(schema: S, bytes: Buffer): { version: number; body: Body<S> } {
  const reader = new Reader(bytes)
  const version = reader.int16()
  if (!contains(schema.versions, version)) throw new DecodeError(`unknown version ${version}`, 0, '', schema.name, version)
  return { version, body: codecOf(schema, version).read(reader) }
}
