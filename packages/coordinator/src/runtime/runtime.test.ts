import assert from 'node:assert/strict'
import { BatchBuilder, type ErrorName, InvariantError } from '@mq/protocol'
import { ManualTime, MemoryPartition, settled } from '../testing.js'
import { SILENT } from './ports.js'
import { Runtime } from './runtime.js'
import type { Decision, Moment, Shard } from './shard.js'

/** A shard that counts: the smallest one that uses everything the runtime offers. */
interface CounterTypes {
  State: { total: number; parked: number[]; committed: number; log: string[] }
  Command:
    | { kind: 'add'; by: number; shows?: number }
    | { kind: 'park' }
    | { kind: 'release' }
    | { kind: 'later'; afterMs: number; by: number }
    | { kind: 'cancel' }
    | { kind: 'countDown'; from: number }
    | { kind: 'fail'; invariant?: true }
    | { kind: 'refusedWith'; error: ErrorName }
    | { kind: 'addOrTell'; by: number }
    | { kind: 'alarms'; count: number; afterMs: number }
  LogRecord: { by: number }
  Reply: string
  Change: { parked: number[] }
  Effect: string
}

const rules: Shard<CounterTypes> = {
  name: 'counter',
  empty: () => ({ total: 0, parked: [], committed: 0, log: [] }),
  remember: (state, change) => {
    state.parked = change.parked
  },
  apply: (state, { by }, { offset }) => {
    state.total += by
    state.log.push(`${offset}:${by}`)
  },
  endTransaction: (state, producerId, outcome) => {
    state.log.push(`${outcome} ${producerId}`)
  },
  committed: (state, highWatermark) => {
    state.committed = highWatermark
  },
  loaded: () => ({ timers: [{ kind: 'set', key: 'hello', afterMs: 50, command: { kind: 'add', by: 1000 } }] }),
  refusal: (_command, error) => error,
  encode: ({ by }) => {
    if (!Number.isSafeInteger(by)) throw new RangeError(`${by} has no room in a record`)
    return { key: Buffer.from('c'), value: Buffer.from(String(by)) }
  },
  decode: (key, value) =>
    key?.toString() === 'c' && value ? { by: Number(value.toString()) } : { kind: 'unreadable', reason: 'not a counter' },
  decide(state, command, { request }: Moment): Decision<CounterTypes> {
    switch (command.kind) {
      case 'add':
        return {
          records: command.by === 0 ? [] : [{ by: command.by }],
          replies: [[request, String(state.total + command.by)]],
          effects: [`added ${command.by}`],
          ...(command.shows === undefined ? {} : { shows: command.shows }),
        }
      case 'park':
        return { changes: [{ parked: [...state.parked, request] }] }
      case 'release':
        return {
          changes: [{ parked: [] }],
          replies: [...state.parked.map((id) => [id, 'released'] as const), [request, 'done']],
        }
      case 'later':
        return {
          timers: [{ kind: 'set', key: 'later', afterMs: command.afterMs, command: { kind: 'add', by: command.by } }],
          replies: [[request, 'set']],
        }
      case 'cancel':
        return { timers: [{ kind: 'cancel', key: 'later' }], replies: [[request, 'cancelled']] }
      case 'countDown':
        return command.from > 1
          ? { records: [{ by: 1 }], next: { kind: 'countDown', from: command.from - 1 } }
          : { records: [{ by: 1 }], replies: [[request, 'zero']] }
      case 'fail':
        throw command.invariant ? new InvariantError('cannot be') : new Error('a defect')
      case 'addOrTell':
        return {
          records: [{ by: command.by }],
          replies: [[request, 'added']],
          ifRefused: (error) => ({ kind: 'refusedWith', error }),
        }
      case 'alarms':
        return {
          timers: Array.from({ length: command.count }, (_, i) => {
            return { kind: 'set', key: `alarm ${i}`, afterMs: command.afterMs, command: { kind: 'add', by: 1 } } as const
          }),
          replies: [[request, 'set']],
        }
      case 'refusedWith':
        return {
          changes: [{ parked: [] }],
          replies: state.parked.map((id) => [id, `told ${command.error}`] as const),
        }
    }
  },
}

function assemble(options: { requestLimit?: number; rules?: Shard<CounterTypes> } = {}) {
  const time = new ManualTime()
  const port = new MemoryPartition(3)
  const lines: string[] = []
  const effects: string[] = []
  const note = (level: string) => (_fields: object, message: string) => lines.push(`${level} ${message}`)
  const runtime = new Runtime<CounterTypes>({
    rules,
    clock: time,
    timers: time,
    logger: { ...SILENT, warn: note('warn'), error: note('error') },
    commitTimeoutMs: 5000,
    carryOut: (effect) => effects.push(effect),
    ...options,
  })
  const run = (command: CounterTypes['Command']) => {
    let reply: string | undefined
    runtime.run(3, command)?.then((value) => {
      reply = value
    })
    return async () => {
      await settled()
      return reply
    }
  }
  return { time, port, runtime, run, lines, effects, state: () => runtime.stateOf(3) }
}

describe('coordinator runtime', () => {
  it('appends, applies and answers, and has the same state after a load', async () => {
    const { runtime, port, run, state } = assemble()
    await runtime.load(port)
    assert.equal(await run({ kind: 'add', by: 5 })(), '5')
    assert.equal(await run({ kind: 'add', by: 2 })(), '7')
    assert.deepEqual(state()!.log, ['0:5', '1:2'])
    runtime.unload(3)
    assert.equal(runtime.run(3, { kind: 'add', by: 1 }), undefined)
    await runtime.load(port)
    assert.equal(state()!.total, 7)
    assert.deepEqual(state()!.log, ['0:5', '1:2'])
  })

  it('answers only when the high watermark has passed, while the next command already sees the record', async () => {
    const { runtime, port, run, effects, state } = assemble()
    await runtime.load(port)
    port.mode = 'hold'
    const first = run({ kind: 'add', by: 5 })
    const second = run({ kind: 'add', by: 2 })
    assert.equal(await first(), undefined)
    assert.equal(state()!.total, 7)
    port.commit(1)
    assert.equal(await first(), '5')
    assert.equal(await second(), undefined)
    assert.deepEqual(effects, ['added 5'])
    port.commit(2)
    assert.equal(await second(), '7')
    assert.equal(state()!.committed, 2)
    assert.deepEqual(effects, ['added 5', 'added 2'])
  })

  it('holds an answer back that shows what is not committed yet', async () => {
    const { runtime, port, run } = assemble()
    await runtime.load(port)
    port.mode = 'hold'
    run({ kind: 'add', by: 5 })
    const shows = run({ kind: 'add', by: 0, shows: 0 })
    assert.equal(await shows(), undefined)
    port.commit()
    assert.equal(await shows(), '5')
  })

  it('answers REQUEST_TIMED_OUT when the records are not committed in time, and keeps them', async () => {
    const { runtime, port, run, time, state } = assemble()
    await runtime.load(port)
    port.mode = 'hold'
    const reply = run({ kind: 'add', by: 5 })
    await time.advance(4999)
    assert.equal(await reply(), undefined)
    await time.advance(1)
    assert.equal(await reply(), 'REQUEST_TIMED_OUT')
    assert.ok(state()!.total >= 5)
  })

  it('answers parked requests by a later command, or with the error when the shard is unloaded', async () => {
    const { runtime, port, run } = assemble()
    await runtime.load(port)
    const parked = run({ kind: 'park' })
    assert.equal(await parked(), undefined)
    assert.equal(await run({ kind: 'release' })(), 'done')
    assert.equal(await parked(), 'released')
    const lost = run({ kind: 'park' })
    runtime.unload(3)
    assert.equal(await lost(), 'NOT_COORDINATOR')
  })

  it('runs commands one after the other while an append is under way', async () => {
    const { runtime, port, run, state } = assemble()
    await runtime.load(port)
    port.mode = 'slow'
    const first = run({ kind: 'add', by: 5 })
    const second = run({ kind: 'add', by: 0 })
    assert.equal(await second(), undefined)
    assert.equal(state()!.total, 0)
    port.finishAppends()
    port.commit()
    assert.equal(await second(), '5')
    port.commit()
    assert.equal(await first(), '5')
  })

  it('loads again after an append whose outcome is not known, and answers NOT_COORDINATOR to whoever waits', async () => {
    const { runtime, port, run, state, lines } = assemble()
    await runtime.load(port)
    await run({ kind: 'add', by: 5 })()
    const parked = run({ kind: 'park' })
    await parked()
    port.failure = 'KAFKA_STORAGE_ERROR'
    assert.equal(await run({ kind: 'add', by: 2 })(), 'KAFKA_STORAGE_ERROR')
    assert.equal(await parked(), 'NOT_COORDINATOR')
    assert.equal(runtime.status(3), 'active')
    assert.equal(state()!.total, 5)
    assert.deepEqual(state()!.parked, [])
    assert.ok(lines.includes('error counter is loaded again'))
    port.failure = new Error('the disk is gone')
    assert.equal(await run({ kind: 'add', by: 2 })(), 'NOT_COORDINATOR')
    assert.equal(state()!.total, 5)
  })

  it('leaves everybody else alone when records are refused before anything was written', async () => {
    const { runtime, port, run, state } = assemble()
    await runtime.load(port)
    const parked = run({ kind: 'park' })
    port.failure = 'MESSAGE_TOO_LARGE'
    assert.equal(await run({ kind: 'add', by: 2 })(), 'MESSAGE_TOO_LARGE')
    assert.equal(await parked(), undefined)
    assert.equal(state()!.total, 0)
    assert.equal(state()!.parked.length, 1)
    port.failure = 'NOT_ENOUGH_REPLICAS'
    assert.equal(await run({ kind: 'addOrTell', by: 2 })(), 'NOT_ENOUGH_REPLICAS')
    assert.equal(await parked(), 'told NOT_ENOUGH_REPLICAS')
  })

  it('gives the command of a timer to the shard, again when it could not be written, and not when it was replaced', async () => {
    const { runtime, port, run, time, state } = assemble()
    await runtime.load(port)
    await time.advance(50)
    assert.equal(state()!.total, 1000)
    await run({ kind: 'later', afterMs: 100, by: 1 })()
    await run({ kind: 'later', afterMs: 200, by: 2 })()
    await time.advance(150)
    assert.equal(state()!.total, 1000)
    port.failure = 'NOT_ENOUGH_REPLICAS'
    await time.advance(50)
    assert.equal(state()!.total, 1000)
    await time.advance(1000)
    assert.equal(state()!.total, 1002)
    await run({ kind: 'later', afterMs: 100, by: 4 })()
    await run({ kind: 'cancel' })()
    await time.advance(10_000)
    assert.equal(state()!.total, 1002)
  })

  it('voids a firing that waits behind a command that replaces its timer', async () => {
    const { runtime, port, run, time, state } = assemble()
    await runtime.load(port)
    await run({ kind: 'later', afterMs: 100, by: 1 })()
    port.mode = 'slow'
    run({ kind: 'add', by: 10 })
    const replace = run({ kind: 'later', afterMs: 100, by: 2 })
    await time.advance(100)
    port.mode = 'commit'
    port.finishAppends()
    assert.equal(await replace(), 'set')
    assert.equal(state()!.total, 1010)
    await time.advance(100)
    assert.equal(state()!.total, 1012)
  })

  it('does long work in several batches and answers at the end', async () => {
    const { runtime, port, run } = assemble()
    await runtime.load(port)
    assert.equal(await run({ kind: 'countDown', from: 5 })(), 'zero')
    assert.equal(port.batches.length, 5)
  })

  it('answers UNKNOWN_SERVER_ERROR to a command that cannot be decided, with a line in the log', async () => {
    const { runtime, port, run, lines } = assemble()
    await runtime.load(port)
    assert.equal(await run({ kind: 'fail' })(), 'UNKNOWN_SERVER_ERROR')
    assert.deepEqual(lines, ['error a command could not be decided'])
    assert.equal(await run({ kind: 'add', by: 1 })(), '1')
  })

  it('refuses what has no room in a record, and leaves everybody else alone', async () => {
    const { runtime, port, run, state, lines } = assemble()
    await runtime.load(port)
    assert.equal(await run({ kind: 'add', by: 2 ** 60 })(), 'UNKNOWN_SERVER_ERROR')
    const parked = run({ kind: 'park' })
    assert.equal(await parked(), undefined)
    assert.equal(await run({ kind: 'addOrTell', by: 2 ** 60 })(), 'UNKNOWN_SERVER_ERROR')
    assert.equal(await parked(), 'told UNKNOWN_SERVER_ERROR')
    assert.deepEqual([state()!.total, port.batches.length], [0, 0])
    assert.deepEqual(lines, ['error records could not be encoded', 'error records could not be encoded'])
  })

  it('gives the command of a timer again, much later, when a defect was in its way', async () => {
    const { runtime, port, run, time, state, lines } = assemble()
    await runtime.load(port)
    await time.advance(50)
    await run({ kind: 'later', afterMs: 100, by: 2 ** 60 })()
    await time.advance(100)
    assert.equal(lines.length, 1)
    await time.advance(59_999)
    assert.equal(lines.length, 1)
    await time.advance(1)
    assert.deepEqual([lines.length, state()!.total], [2, 1000])
  })

  it('goes back to what the log says when an invariant is broken', async () => {
    const { runtime, port, run, state, lines } = assemble()
    await runtime.load(port)
    await run({ kind: 'add', by: 5 })()
    const parked = run({ kind: 'park' })
    assert.equal(await run({ kind: 'fail', invariant: true })(), 'UNKNOWN_SERVER_ERROR')
    assert.equal(await parked(), 'NOT_COORDINATOR')
    assert.deepEqual([state()!.total, state()!.parked], [5, []])
    assert.deepEqual(lines, ['error a command could not be decided', 'error counter is loaded again'])
  })

  it('goes back to what the log says when a broken invariant shows only once records are committed', async () => {
    const broken = () => {
      throw new InvariantError('never')
    }
    const { runtime, port, run, state, lines } = assemble({ rules: { ...rules, committed: broken } })
    await runtime.load(port)
    port.mode = 'hold'
    const added = run({ kind: 'add', by: 5 })
    await settled()
    port.commit()
    assert.equal(await added(), 'NOT_COORDINATOR')
    assert.equal(state()!.total, 5)
    assert.deepEqual(lines, ['error counter is loaded again'])
  })

  it('refuses requests above its limit', async () => {
    const { runtime, port, run } = assemble({ requestLimit: 2 })
    await runtime.load(port)
    run({ kind: 'park' })
    run({ kind: 'park' })
    assert.equal(await run({ kind: 'park' })(), 'COORDINATOR_NOT_AVAILABLE')
  })

  it('answers a request for which timers left no room in the mailbox', async () => {
    const { runtime, port, run, time } = assemble({ requestLimit: 2 })
    await runtime.load(port)
    await run({ kind: 'alarms', count: 2, afterMs: 10 })()
    port.mode = 'slow'
    const slow = run({ kind: 'add', by: 1 })
    await time.advance(10)
    assert.equal(await run({ kind: 'park' })(), 'COORDINATOR_NOT_AVAILABLE')
    port.mode = 'commit'
    port.finishAppends()
    port.commit()
    assert.equal(await slow(), '1')
  })

  it('tries a load again that failed, later each time, and says that it is loading meanwhile', async () => {
    const { runtime, port, time } = assemble()
    port.readFailure = new Error('no such file')
    await runtime.load(port)
    assert.equal(runtime.status(3), 'loading')
    port.readFailure = new Error('no such file')
    await time.advance(100)
    assert.equal(runtime.status(3), 'loading')
    await time.advance(199)
    assert.equal(runtime.status(3), 'loading')
    await time.advance(1)
    assert.equal(runtime.status(3), 'active')
  })

  it('lets others run while it loads a long log, and stops when it is not wanted any more', async () => {
    const { runtime, port, state, time } = assemble()
    for (let batch = 0; batch < 3; batch++) {
      const builder = new BatchBuilder()
      for (let i = 0; i < 2000; i++) builder.tryAppend({ timestamp: 0, key: 'c', value: '1' })
      port.plant(builder.build())
    }
    void runtime.load(port)
    await settled()
    assert.equal(runtime.status(3), 'loading')
    await time.advance(0)
    assert.equal(runtime.status(3), 'active')
    assert.equal(state()!.total, 6000)
    runtime.unload(3)
    void runtime.load(port)
    await settled()
    runtime.unload(3)
    await time.advance(0)
    assert.equal(runtime.status(3), 'elsewhere')
    assert.equal(time.timerCount, 0)
  })

  it('gives a command for all shards to one that is loading once it has loaded', async () => {
    const { runtime, port, state, time } = assemble()
    port.readFailure = new Error('no such file')
    await runtime.load(port)
    let done = 0
    const run = () => runtime.runEverywhere({ kind: 'add', by: 7 }).then(() => done++)
    void run()
    await settled()
    assert.deepEqual([runtime.status(3), done], ['loading', 0])
    await time.advance(100)
    assert.deepEqual([runtime.status(3), done, state()!.total], ['active', 1, 7])
    await run()
    assert.equal(state()!.total, 14)
    runtime.unload(3)
    port.readFailure = new Error('no such file')
    await runtime.load(port)
    void run()
    runtime.unload(3)
    await settled()
    assert.equal(done, 3)
  })

  it('skips what it cannot read while loading, with a line in the log', async () => {
    const { runtime, port, run, lines, state } = assemble()
    const plant = (key: string | null, value: string) => {
      const builder = new BatchBuilder()
      builder.tryAppend({ timestamp: 0, key, value })
      return builder.build()
    }
    port.plant(plant('c', '1'))
    port.plant(plant('x', '2'))
    const damaged = plant('c', '4')
    damaged[damaged.length - 2]! ^= 0xff
    port.plant(damaged)
    port.plant(plant('c', '8'))
    await runtime.load(port)
    assert.equal(state()!.total, 9)
    assert.deepEqual(lines, ['warn a record was skipped while loading', 'warn a record was skipped while loading'])
    assert.equal(await run({ kind: 'add', by: 1 })(), '10')
  })

  it('stops everything when it is closed', async () => {
    const { runtime, port, run, time } = assemble()
    await runtime.load(port)
    await run({ kind: 'later', afterMs: 100, by: 1 })()
    const parked = run({ kind: 'park' })
    port.mode = 'hold'
    const uncommitted = run({ kind: 'add', by: 1 })
    runtime.close()
    assert.equal(await parked(), 'COORDINATOR_NOT_AVAILABLE')
    assert.equal(await uncommitted(), 'COORDINATOR_NOT_AVAILABLE')
    assert.equal(time.timerCount, 0)
  })
})
