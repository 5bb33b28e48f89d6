// Frames come out whole however the stream is cut, and a lying size costs nothing.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SEED } from '../schema/arbitrary.test.js'
import { FrameReader, FrameSizeError, FrameTooLarge } from './frame.js'

function framed(...frames: readonly Buffer[]): Buffer {
  return Buffer.concat(
    frames.flatMap((frame) => {
      const size = Buffer.alloc(4)
      size.writeInt32BE(frame.length)
      return [size, frame]
    }),
  )
}

describe(`the frame reader (SEED=${SEED})`, () => {
  it('gives the same frames however the stream is cut', () => {
    const frames = fc.array(
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
      { maxLength: 8 },
    )
    const property = fc.property(frames, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (list, cuts) => {
      const stream = framed(...list)
      const reader = new FrameReader(1000)
      const found: Buffer[] = []
      for (let at = 0, cut = 0; at < stream.length; cut++) {
        const size = cuts[cut % cuts.length]!
        found.push(...reader.push(stream.subarray(at, at + size)))
        at += size
      }
      assert.deepEqual(found, list)
      assert.equal(reader.pendingBytes, 0)
    })
    fc.assert(property, { seed: SEED })
  })

  it('gives frames of one chunk as views of it', () => {
    const chunk = framed(Buffer.from('one'), Buffer.from('two'))
    const frames = new FrameReader(100).push(chunk)
    chunk[4] = 'O'.charCodeAt(0)
    assert.equal(frames[0]!.toString(), 'One')
  })

  it('keeps a copy of an unfinished frame, not the chunk it came in', () => {
    const reader = new FrameReader(100)
    const [head, tail] = [framed(Buffer.from('abcdef')).subarray(0, 7), Buffer.from('def')]
    assert.deepEqual(reader.push(head), [])
    head.fill(0)
    assert.deepEqual(reader.push(tail).map(String), ['abcdef'])
  })

  it('holds as much memory as has arrived, whatever size is announced', () => {
    const reader = new FrameReader(1 << 30)
    const head = Buffer.alloc(4)
    head.writeInt32BE(1 << 30)
    const before = process.memoryUsage().arrayBuffers
    reader.push(head)
    for (let count = 0; count < 100; count++) reader.push(Buffer.alloc(1000))
    assert.equal(reader.pendingBytes, 4 + 100_000)
    assert.ok(process.memoryUsage().arrayBuffers - before < 10_000_000)
  })

  it('refuses a negative size', () => {
    assert.throws(() => new FrameReader(100).push(Buffer.from('ffffffff', 'hex')), FrameSizeError)
  })

  it('refuses a size above the limit, also when it comes byte by byte', () => {
    const reader = new FrameReader(100)
    const bytes = Buffer.from('00000065', 'hex')
    for (let at = 0; at < 3; at++) reader.push(bytes.subarray(at, at + 1))
    assert.throws(
      () => reader.push(bytes.subarray(3)),
      (error) => error instanceof FrameTooLarge && error.size === 101 && error.limitBytes === 100,
    )
  })

  it('takes a frame of exactly the limit, and an empty one', () => {
    const frames = new FrameReader(100).push(framed(Buffer.alloc(100), Buffer.alloc(0)))
    assert.deepEqual(
      frames.map((frame) => frame.length),
      [100, 0],
    )
  })
})
