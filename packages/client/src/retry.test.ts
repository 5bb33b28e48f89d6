import assert from 'node:assert/strict'
import { KafkaJSError, KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded } from './errors.js'
import { DEFAULT_RETRY, newAbortController, retryDelays, retrying, retryPolicy } from './retry.js'
import { ManualTime } from './testing/manual-timers.js'

const middle = { next: () => 0.5 }
const instant = (waited: number[]) => ({
  after: (delayMs: number, fire: () => void) => {
    waited.push(delayMs)
    queueMicrotask(fire)
    return () => {}
  },
})

describe('retries', () => {
  it('pause 300 ms, then twice as long each time, 30 s at most', () => {
    assert.deepEqual(
      [...retryDelays({ ...DEFAULT_RETRY, retries: 9 }, middle)],
      [300, 600, 1200, 2400, 4800, 9600, 19200, 30000, 30000],
    )
  })

  it('stay within the jitter', () => {
    for (const draw of [0, 0.25, 0.999]) {
      const [first] = [...retryDelays(DEFAULT_RETRY, { next: () => draw })]
      assert.ok(first! >= 240 && first! <= 360, String(first))
    }
  })

  it('take the defaults of tests when NODE_ENV says so, and never a default over a given value', () => {
    assert.equal(retryPolicy({ retries: undefined as never }, 'test').retries, 15)
    assert.equal(retryPolicy({ retries: 0 }, 'production').retries, 0)
  })

  it('end with success', async () => {
    const waited: number[] = []
    const result = await retrying({ policy: DEFAULT_RETRY, timers: instant(waited), random: middle }, async ({ retryCount }) => {
      if (retryCount < 2) throw new KafkaJSError('again')
      return retryCount
    })
    assert.equal(result, 2)
    assert.deepEqual(waited, [300, 600])
  })

  it('end when used up, with the last error as the cause', async () => {
    const waited: number[] = []
    const failed = retrying({ policy: { ...DEFAULT_RETRY, retries: 2 }, timers: instant(waited), random: middle }, async () => {
      throw new KafkaJSError('no broker')
    })
    await assert.rejects(failed, (error: KafkaJSNumberOfRetriesExceeded) => {
      assert.ok(error instanceof KafkaJSNumberOfRetriesExceeded)
      assert.equal(error.retryCount, 2)
      assert.equal(error.retriable, false)
      assert.equal((error.cause as Error).message, 'no broker')
      return true
    })
    assert.equal(waited.length, 2)
  })

  it('do not try a programming error, or what says that it is final, again', async () => {
    for (const error of [new TypeError('x is not a function'), new KafkaJSNonRetriableError('refused')]) {
      let tries = 0
      const failed = retrying({ policy: DEFAULT_RETRY, timers: instant([]), random: middle }, async () => {
        tries++
        throw error
      })
      await assert.rejects(failed, KafkaJSNonRetriableError)
      assert.equal(tries, 1)
    }
  })

  it('end early when the client has been closed', async () => {
    let tries = 0
    const failed = retrying(
      { policy: DEFAULT_RETRY, timers: instant([]), random: middle, until: [AbortSignal.abort()] },
      async () => {
        tries++
        throw new KafkaJSError('again')
      },
    )
    await assert.rejects(failed, KafkaJSNumberOfRetriesExceeded)
    assert.equal(tries, 1)
  })

  it('end in the middle of a pause when the client is closed, without a timer left and without a warning', async () => {
    const time = new ManualTime()
    const closing = newAbortController()
    const warnings: Error[] = []
    const warned = (warning: Error) => void warnings.push(warning)
    process.on('warning', warned)
    let tries = 0
    const all = Array.from({ length: 30 }, () =>
      retrying({ policy: DEFAULT_RETRY, timers: time, random: middle, until: [closing.signal] }, async () => {
        tries++
        throw new KafkaJSError('again')
      }),
    )
    await new Promise(setImmediate)
    assert.equal(time.armed, 30)
    closing.abort()
    assert.equal(time.armed, 0)
    for (const each of await Promise.allSettled(all))
      assert.ok((each as PromiseRejectedResult).reason instanceof KafkaJSNumberOfRetriesExceeded)
    await new Promise(setImmediate)
    process.off('warning', warned)
    assert.equal(tries, 30)
    assert.deepEqual(warnings, [])
  })
})
