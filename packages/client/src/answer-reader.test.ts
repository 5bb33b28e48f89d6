import assert from 'node:assert/strict'
import fc from 'fast-check'
import { AnswerReader } from './answer-reader.js'

const SEED = process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }

function streamOf(sizes: readonly number[]): { stream: Buffer; answers: Buffer[] } {
  const answers = sizes.map((size, index) => Buffer.alloc(size, index + 1))
  const parts = answers.flatMap((answer) => {
    const head = Buffer.alloc(4)
    head.writeInt32BE(answer.length)
    return [head, answer]
  })
  return { stream: Buffer.concat(parts), answers }
}

/** Plays a socket: puts as many bytes as `steps` say into the reader's room, or hands out chunks of its own. */
function feed(reader: AnswerReader, stream: Buffer, steps: readonly number[], way: 'room' | 'push'): Buffer[] {
  const got: Buffer[] = []
  let at = 0
  for (let turn = 0; at < stream.length; turn++) {
    const step = steps[turn % steps.length]!
    if (way === 'push') {
      const chunk = Buffer.from(stream.subarray(at, at + step))
      got.push(...reader.push(chunk))
      at += chunk.length
      chunk.fill(0xee)
    } else {
      const room = reader.room()
      const count = Math.min(step, room.length, stream.length - at)
      stream.copy(room, 0, at, at + count)
      got.push(...reader.filled(count))
      at += count
    }
  }
  return got
}

describe('the answer reader', () => {
  for (const way of ['room', 'push'] as const)
    it(`cuts any stream into the same answers, however it arrives (${way})`, () => {
      const sizes = fc.array(fc.oneof(fc.nat(40), fc.integer({ min: 16_000, max: 200_000 })), { minLength: 1, maxLength: 6 })
      const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1_000, max: 90_000 })), {
        minLength: 1,
        maxLength: 5,
      })
      fc.assert(
        fc.property(sizes, steps, (wanted, chunks) => {
          // Single bytes over large answers would take all day and show nothing more.
          const used = chunks.every((each) => each < 10) ? [...chunks, 5_000] : chunks
          const { stream, answers } = streamOf(wanted)
          const got = feed(new AnswerReader(1_000_000), stream, used, way)
          assert.equal(got.length, answers.length)
          assert.ok(got.every((answer, index) => answer.equals(answers[index]!)))
        }),
        { numRuns: 60, ...SEED },
      )
    })

  it('gives answers above 16 MiB their memory as it arrives', () => {
    const { stream, answers } = streamOf([40 * 1024 * 1024])
    const reader = new AnswerReader(64 * 1024 * 1024)
    assert.deepEqual(feed(reader, stream.subarray(0, 5), [5], 'room'), [])
    assert.ok(reader.room().length <= 16 * 1024 * 1024)
    assert.deepEqual(reader.filled(0), [])
    const [answer] = feed(reader, stream.subarray(5), [1_000_000], 'room')
    assert.ok(answer!.equals(answers[0]!))
  })

  it('refuses sizes that no answer has', () => {
    assert.throws(() => new AnswerReader(100).push(Buffer.from([0xff, 0, 0, 0])), { name: 'FrameSizeError' })
    assert.throws(() => new AnswerReader(100).push(Buffer.from([0, 0, 0, 101])), { name: 'FrameTooLarge' })
  })
})
