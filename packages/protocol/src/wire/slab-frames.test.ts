import assert from 'node:assert/strict'
import fc from 'fast-check'
import { FrameReader, FrameSizeError, FrameTooLarge } from './frame.js'
import { SlabFrames } from './slab-frames.js'

const framed = (body: Uint8Array): Buffer => {
  const size = Buffer.alloc(4)
  size.writeInt32BE(body.length)
  return Buffer.concat([size, body])
}

/** Feeds a stream as a socket would: as much as the room holds, at most `most` bytes a read. */
function feed(slabs: SlabFrames, stream: Buffer, most: number): Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at < stream.length; ) {
    const room = slabs.room()
    assert.ok(room.length > 0, 'there is always room')
    const count = Math.min(room.length, most, stream.length - at)
    stream.copy(room, 0, at, at + count)
    frames.push(...slabs.received(count))
    at += count
  }
  return frames
}

describe('frames in slabs', () => {
  it('are the frames that a reader of chunks sees, however the stream is cut, and stay as they were', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 9000 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 20_000 }),
        (bodies, most) => {
          const stream = Buffer.concat(bodies.map(framed))
          const frames = feed(new SlabFrames(1 << 20), stream, most)
          assert.deepEqual(
            frames.map((frame) => frame.toString('hex')),
            new FrameReader(1 << 20).push(stream).map((frame) => frame.toString('hex')),
          )
        },
      ),
    )
  })

  it('read a large frame without copying it once the connection has sent one like it', () => {
    const slabs = new SlabFrames(1 << 24)
    const large = framed(Buffer.alloc(1_000_000, 7))
    feed(slabs, large, 65_536)
    const [second] = feed(slabs, large, 65_536).slice(-1)
    assert.equal(second!.length, 1_000_000)
    assert.ok(second!.buffer.byteLength <= 1_000_000 + 300_000, `${second!.buffer.byteLength}`)
  })

  it('hold at most twice what has arrived of an announced frame, or a slab', () => {
    const slabs = new SlabFrames(100 << 20)
    const announced = Buffer.alloc(4)
    announced.writeInt32BE(100 << 20)
    feed(slabs, Buffer.concat([announced, Buffer.alloc(100_000)]), 10_000)
    assert.ok(slabs.room().buffer.byteLength <= 262_144, `${slabs.room().buffer.byteLength}`)
  })

  it('refuse impossible sizes', () => {
    assert.throws(() => feed(new SlabFrames(100), Buffer.from('ffffffff', 'hex'), 4), FrameSizeError)
    assert.throws(() => feed(new SlabFrames(100), Buffer.from('00000065', 'hex'), 4), FrameTooLarge)
  })
})
