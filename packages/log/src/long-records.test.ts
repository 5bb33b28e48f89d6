import assert from 'node:assert/strict'
import { BatchBuilder, type CodecName, RecordBatch } from '@mq/protocol'
import { appended, batch, harness, PARTITION, produce, TOPIC_ID } from './log.test.support.js'
import { areLong, MOST_DECOMPRESSED_BYTES, validateShort } from './long-records.js'
import { InlineOffload } from './offload.js'
import type { Disk, Offload } from './ports.js'
import { ManualTurn } from './testing.js'
import { DEFAULT_TOPIC_CONFIG, type TopicConfig } from './topic-config.js'
import { validate } from './validate.js'

/** Hard to compress, the same for the same seed. */
function noise(count: number, seed: number): Buffer {
  const bytes = Buffer.alloc(count)
  for (let at = 0, state = seed; at < count; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[at] = state >>> 24
  }
  return bytes
}

/** Of records of a kilobyte; `thin` ones shrink to nearly nothing. */
function compressed(codec: CodecName, kilobytes: number, kind: 'thick' | 'thin' = 'thick', options: object = {}): Buffer {
  const builder = new BatchBuilder({ codec, ...options })
  for (let at = 0; at < kilobytes; at++) {
    builder.tryAppend({
      timestamp: 1_700_000_000_000 + at,
      key: null,
      value: kind === 'thin' ? Buffer.alloc(1000) : noise(1000, at),
    })
  }
  return builder.build()
}

const OPTIONS = {
  origin: 'client',
  leaderEpoch: 3,
  firstOffset: 0,
  now: 1_700_000_000_000,
  config: DEFAULT_TOPIC_CONFIG,
} as const

/** Holds every job back until it is let go; counts them. */
class HeldOffload implements Offload {
  readonly #inline: Offload
  readonly #held: (() => void)[] = []
  readonly names: string[] = []
  failing = false

  constructor(disk: Disk) {
    this.#inline = new InlineOffload(disk)
  }

  run: Offload['run'] = async (name, input, options) => {
    this.names.push(name)
    await new Promise<void>((go) => this.#held.push(go))
    if (this.failing) throw new Error('the thread died')
    return this.#inline.run(name, input, options)
  }

  letGo(at = 0): void {
    this.#held.splice(at, 1)[0]!()
  }

  close(): Promise<void> {
    return this.#inline.close()
  }
}

const turn = () => new Promise<void>((resume) => setImmediate(resume))

async function held(config: Partial<TopicConfig> = {}, atEndOfTurn?: ManualTurn) {
  let offload!: HeldOffload
  const made = await harness({
    config,
    ...(atEndOfTurn === undefined ? {} : { turn: atEndOfTurn }),
    directories: {
      offload: (disk) => {
        offload = new HeldOffload(disk)
        return offload
      },
    },
  })
  return { ...made, offload }
}

describe('records that take long to check', () => {
  it('are those that are large and compressed, that give much, or that are stored in another form', () => {
    const long = (records: Buffer, config: Partial<TopicConfig> = {}) =>
      validateShort(records, {
        ...OPTIONS,
        config: { ...DEFAULT_TOPIC_CONFIG, ...config },
        maxDecompressedBytes: MOST_DECOMPRESSED_BYTES,
      }) === 'long'
    for (const codec of ['gzip', 'snappy', 'lz4', 'zstd'] as const) {
      assert.equal(long(compressed(codec, 300)), true, `${codec}, large`)
      assert.equal(long(compressed(codec, 60)), false, `${codec}, small`)
      assert.equal(long(compressed(codec, 700, 'thin')), true, `${codec}, gives much`)
      assert.equal(long(compressed(codec, 400, 'thin')), false, `${codec}, gives little`)
    }
    assert.equal(long(compressed('none', 900)), false, 'walked where they are')
    assert.equal(long(compressed('none', 900), { 'compression.type': 'gzip' }), true)
    assert.equal(long(compressed('none', 20), { 'compression.type': 'gzip' }), false)
    assert.equal(long(compressed('gzip', 2000), { 'max.message.bytes': 100_000 }), false, 'refused for their size')
    assert.equal(areLong(Buffer.alloc(300_000), DEFAULT_TOPIC_CONFIG), false, 'no batch at all')
  })

  it('are answered and stored as if they were short', async () => {
    for (const config of [{}, { 'compression.type': 'zstd' }, { 'message.timestamp.type': 'LogAppendTime' }] as const) {
      const { offload, log } = await held(config)
      appended(await produce(log, batch({ values: ['a', 'b', 'c'] }), 5))
      const running = produce(log, compressed('gzip', 300), 5)
      await turn()
      offload.letGo()
      const outcome = appended(await running)
      assert.deepEqual([outcome.firstOffset, outcome.lastOffset, log.logEndOffset], [3, 302, 303])
      const read = await log.read(3, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
      const straight = validate(compressed('gzip', 300), {
        ...OPTIONS,
        leaderEpoch: 5,
        firstOffset: 3,
        config: { ...DEFAULT_TOPIC_CONFIG, ...config },
      })
      assert.ok(read.kind === 'read' && straight.kind === 'validated')
      assert.ok(Buffer.concat(read.slices).equals(straight.batch.slice()))
      assert.equal(outcome.logAppendTime, straight.logAppendTime)
    }
  })

  it('keep their place: what was appended to the log after them waits, two are looked at side by side', async () => {
    const { offload, log } = await held()
    const firstOffset = async (outcome: ReturnType<typeof produce>) => appended(await outcome).firstOffset
    const order: number[] = []
    const all = [compressed('gzip', 300), batch(), compressed('lz4', 300), batch()].map((records) => produce(log, records))
    for (const one of all) void firstOffset(one).then((offset) => order.push(offset))
    await turn()
    assert.deepEqual([offload.names, order], [['validate', 'validate'], []])
    offload.letGo(1)
    await turn()
    assert.deepEqual(order, [], 'the second is ready, the first is not')
    offload.letGo()
    await Promise.all(all)
    assert.deepEqual(order, [0, 300, 301, 601])
  })

  it('do not hold up another log, nor a read of their own', async () => {
    const atEndOfTurn = new ManualTurn()
    const { offload, log, directories } = await held({}, atEndOfTurn)
    const other = await directories.create({ ...PARTITION, partition: 1 }, TOPIC_ID, DEFAULT_TOPIC_CONFIG)
    const first = produce(log, batch())
    const running = produce(log, compressed('snappy', 300))
    const elsewhere = produce(other, batch())
    atEndOfTurn.end()
    appended(await first)
    appended(await elsewhere)
    const read = await log.read(0, { maxBytes: 1000, minOneMessage: true, upTo: 'logEnd' })
    assert.ok(read.kind === 'read' && read.logEndOffset === 1)
    offload.letGo()
    appended(await running)
  })

  it('are refused as short ones are: 87 for a bomb, 2 for a wrong checksum, a duplicate is answered as the first time', async () => {
    const { offload, log } = await held()
    const answer = async (records: Buffer) => {
      const running = produce(log, records)
      await turn()
      offload.letGo()
      return running
    }
    const bomb = await answer(compressed('gzip', 70_000, 'thin'))
    assert.deepEqual([bomb.kind, 'error' in bomb && bomb.error], ['refused', 'INVALID_RECORD'])
    assert.match('message' in bomb ? bomb.message : '', /more than 67108864 bytes/)
    const wrong = compressed('gzip', 300)
    wrong[wrong.length - 1]! ^= 1
    const corrupt = await answer(wrong)
    assert.deepEqual([corrupt.kind, 'error' in corrupt && corrupt.error], ['refused', 'CORRUPT_MESSAGE'])
    const idempotent = () => compressed('gzip', 300, 'thick', { producerId: 4, producerEpoch: 0, baseSequence: 0 })
    assert.equal(appended(await answer(idempotent())).firstOffset, 0)
    const again = appended(await answer(idempotent()))
    assert.deepEqual([again.duplicate, again.firstOffset, again.lastOffset, log.logEndOffset], [true, 0, 299, 300])
  })

  it('fail alone when the thread dies; what was behind them goes on', async () => {
    const { offload, log } = await held()
    const running = produce(log, compressed('gzip', 300))
    const behind = produce(log, batch())
    await turn()
    offload.failing = true
    offload.letGo()
    await assert.rejects(running, /the thread died/)
    assert.equal(appended(await behind).firstOffset, 0)
  })

  it('are waited for when the log closes', async () => {
    const { offload, log, directories, reopen } = await held()
    const running = produce(log, compressed('gzip', 300))
    const closed = directories.close()
    await turn()
    offload.letGo()
    assert.equal(appended(await running).lastOffset, 299)
    await closed
    const again = await reopen()
    assert.equal(again.logEndOffset, 300)
  })

  it('are compressed beside the loop where the topic wants it', async () => {
    const { offload, log } = await held({ 'compression.type': 'gzip' })
    const running = produce(log, compressed('none', 500))
    await turn()
    offload.letGo()
    appended(await running)
    assert.deepEqual(offload.names, ['validate'])
    const read = await log.read(0, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
    assert.ok(read.kind === 'read' && new RecordBatch(Buffer.concat(read.slices)).codec === 1)
  })
})
