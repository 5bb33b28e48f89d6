// Holds for every message and version: what was written is read again, and generated code does what the interpreter does.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Reader } from '../wire/reader.js'
import { Writer } from '../wire/writer.js'
import { arbitraryInput, MESSAGES, project, SEED, versionsOf } from './arbitrary.test.js'
import { type Codec, compiledCodec, interpretedCodec } from './codec.js'
import { planOf } from './plan.js'

const RUNS = 12

function write(codec: Codec, input: object): Buffer {
  const writer = new Writer()
  codec.write(writer, input)
  return writer.toBuffer()
}

describe(`every message and version (SEED=${SEED})`, function () {
  this.timeout(120_000)

  it('reads what it wrote: decode(encode(x, v), v) = project(x, v), compiled and interpreted alike', () => {
    for (const schema of MESSAGES) {
      for (const version of versionsOf(schema)) {
        const plan = planOf(schema, version)
        const [compiled, interpreted] = [compiledCodec(schema, version), interpretedCodec(schema, version)]
        const property = fc.property(arbitraryInput(plan), (input) => {
          const bytes = write(compiled, input)
          assert.deepEqual(write(interpreted, input), bytes)
          const expected = project(plan, input)
          for (const codec of [compiled, interpreted]) {
            const reader = new Reader(bytes)
            assert.deepEqual(codec.read(reader, 'exact'), expected, `${schema.name} v${version}`)
            assert.equal(reader.remaining, 0)
          }
        })
        fc.assert(property, { numRuns: RUNS, seed: SEED })
      }
    }
  })

  it('cannot be read when cut short, and says so alike', () => {
    for (const schema of MESSAGES) {
      for (const version of versionsOf(schema)) {
        const plan = planOf(schema, version)
        const [compiled, interpreted] = [compiledCodec(schema, version), interpretedCodec(schema, version)]
        const property = fc.property(arbitraryInput(plan), fc.nat(), (input, cut) => {
          const whole = write(compiled, input)
          if (whole.length === 0) return
          const bytes = whole.subarray(0, cut % whole.length)
          assert.deepEqual(
            failure(() => compiled.read(new Reader(bytes))),
            failure(() => interpreted.read(new Reader(bytes))),
          )
        })
        fc.assert(property, { numRuns: 3, seed: SEED })
      }
    }
  })
})

function failure(read: () => unknown): unknown {
  try {
    return { value: read() }
  } catch (error) {
    const { name, message } = error as Error
    return { name, message }
  }
}
