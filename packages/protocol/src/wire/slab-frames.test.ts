import assert from 'node:assert/strict'
import fc from 'fast-check'
import { FrameReader, FrameSizeError, FrameTooLarge } from './frame.js'
import { release, Slab, SlabPool } from './slab.js'
import { SlabFrames } from './slab-frames.js'

const framed = (body: Uint8Array): Buffer => {
  const size = Buffer.alloc(4)
  size.writeInt32BE(body.length)
  return Buffer.concat([size, body])
}

/** Frames whose first byte is odd are lent. */
const isLent = (frame: Buffer): boolean => frame.length > 0 && frame[0]! % 2 === 1

const slabFrames = (limitBytes: number, pool = new SlabPool({ poison: true })): SlabFrames =>
  new SlabFrames({ limitBytes, pool, isLent })

/** Feeds a stream as a socket would: as much as the room holds, at most `most` bytes a read. */
function feed(slabs: SlabFrames, stream: Buffer, most: number, taken: (frame: Buffer) => void = () => {}): Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at < stream.length; ) {
    const room = slabs.room()
    assert.ok(room.length > 0, 'there is always room')
    const count = Math.min(room.length, most, stream.length - at)
    stream.copy(room, 0, at, at + count)
    for (const frame of slabs.received(count)) {
      frames.push(frame)
      taken(frame)
    }
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
          const frames = feed(slabFrames(1 << 20), stream, most)
          assert.deepEqual(
            frames.map((frame) => frame.toString('hex')),
            new FrameReader(1 << 20).push(stream).map((frame) => frame.toString('hex')),
          )
        },
      ),
    )
  })

  it('stay as they were until they are released, though slabs are used again and again', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ body: fc.uint8Array({ minLength: 1, maxLength: 9000 }), keptFor: fc.nat(8) }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 20_000 }),
        (sent, most) => {
          const pool = new SlabPool({ poison: true })
          const slabs = slabFrames(1 << 20, pool)
          const kept: { frame: Buffer; body: Uint8Array; until: number }[] = []
          let arrived = 0
          const check = (frame: Buffer): void => {
            const { body, keptFor } = sent[arrived]!
            kept.push({ frame, body, until: arrived + keptFor })
            arrived++
            for (const one of kept.splice(0)) {
              assert.ok(one.frame.equals(one.body), 'a frame is as it was sent for as long as it is kept')
              if (one.until > arrived) kept.push(one)
              else release(one.frame)
            }
          }
          feed(slabs, Buffer.concat(sent.map(({ body }) => framed(body))), most, check)
          for (const { frame } of kept) release(frame)
          slabs.close()
          assert.equal(arrived, sent.length)
          assert.ok(pool.idleBytes > 0)
        },
      ),
    )
  })

  it('use the same memory again when each is released before the next comes', () => {
    const pool = new SlabPool({ poison: true })
    const slabs = slabFrames(1 << 24, pool)
    const memory = new Set<ArrayBufferLike>()
    for (let round = 0; round < 100; round++)
      feed(slabs, framed(Buffer.alloc(600_000, 1)), 65_536, (frame) => {
        memory.add(frame.buffer)
        release(frame)
      })
    assert.ok(memory.size <= 3, `${memory.size}`)
  })

  it('are copies when they are not lent, so that nobody has to release them', () => {
    const [copy, lent] = feed(slabFrames(100), Buffer.concat([framed(Buffer.of(2, 2)), framed(Buffer.of(3, 3))]), 100)
    assert.ok(!(copy!.buffer instanceof Slab))
    assert.ok(lent!.buffer instanceof Slab)
  })

  it('read a large frame without copying it once the connection has sent one like it', () => {
    const slabs = slabFrames(1 << 24)
    const large = framed(Buffer.alloc(1_000_000, 7))
    feed(slabs, large, 65_536)
    const [second] = feed(slabs, large, 65_536).slice(-1)
    assert.equal(second!.length, 1_000_000)
    assert.ok(second!.buffer.byteLength <= 1_000_000 + 300_000, `${second!.buffer.byteLength}`)
  })

  it('hold at most twice what has arrived of an announced frame, or a slab', () => {
    const slabs = slabFrames(100 << 20)
    const announced = Buffer.alloc(4)
    announced.writeInt32BE(100 << 20)
    feed(slabs, Buffer.concat([announced, Buffer.alloc(100_000)]), 10_000)
    assert.ok(slabs.room().buffer.byteLength <= 262_144, `${slabs.room().buffer.byteLength}`)
  })

  it('refuse impossible sizes', () => {
    assert.throws(() => feed(slabFrames(100), Buffer.from('ffffffff', 'hex'), 4), FrameSizeError)
    assert.throws(() => feed(slabFrames(100), Buffer.from('00000065', 'hex'), 4), FrameTooLarge)
  })
})
