/**
 * How often and how long to try again. The rule (`retryDelays`, `mayRetry`) is pure; `retrying` runs it on injected timers.
 * Delays and limits are kafkajs' (five retries from 300 ms, doubling with ±20 % jitter, 30 s at most between two tries).
 */

import { setMaxListeners } from 'node:events'
import { KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded } from './errors.js'
import type { Random, Timers } from './ports.js'

export interface RetryOptions {
  /** Longest pause between two tries, in ms. Default 30000. */
  maxRetryTime?: number
  /** First pause, in ms. Default 300. */
  initialRetryTime?: number
  /** Jitter: each pause is drawn from ±factor around its value. Default 0.2. */
  factor?: number
  /** Each pause is this many times the one before. Default 2. */
  multiplier?: number
  /** Tries after the first. Default 5. */
  retries?: number
  /** Consumer only: after a crash by exhausted retries, start again? Default yes. */
  restartOnFailure?: (error: Error) => Promise<boolean>
}

export type RetryPolicy = Required<Omit<RetryOptions, 'restartOnFailure'>>

export const DEFAULT_RETRY: RetryPolicy = { maxRetryTime: 30_000, initialRetryTime: 300, factor: 0.2, multiplier: 2, retries: 5 }

/** What counts when NODE_ENV is `test`: short pauses, more tries. */
export const TEST_RETRY: RetryPolicy = { maxRetryTime: 1_000, initialRetryTime: 50, factor: 0.02, multiplier: 1.5, retries: 15 }

/** Fills what was left out. */
export function retryPolicy(options: RetryOptions | undefined, nodeEnv: string | undefined): RetryPolicy {
  const base = nodeEnv === 'test' ? TEST_RETRY : DEFAULT_RETRY
  const given = Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined && value !== null))
  return { ...base, ...given }
}

function jittered(policy: RetryPolicy, delayMs: number, random: Random): number {
  const spread = policy.factor * delayMs
  return Math.ceil(delayMs - spread + random.next() * 2 * spread)
}

/** The pauses in order, one for each retry. */
export function* retryDelays(policy: RetryPolicy, random: Random): Generator<number> {
  let delayMs = jittered(policy, policy.initialRetryTime, random)
  for (let retry = 0; retry < policy.retries; retry++) {
    yield Math.min(delayMs, policy.maxRetryTime)
    delayMs = Math.min(jittered(policy, delayMs, random) * policy.multiplier, policy.maxRetryTime)
  }
}

/** Bugs of the program are never tried again; neither is what says so itself. */
export function mayRetry(error: unknown): boolean {
  if (
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError ||
    error instanceof TypeError
  )
    return false
  return (error as { retriable?: unknown } | null)?.retriable !== false
}

export interface Attempt {
  /** 0 for the first try. */
  readonly retryCount: number
  /** The pause that came before this try, in ms. */
  readonly retryTime: number
}

/** For any number of waiters: a busy client tries thousands of things again at once, and Node warns of more than ten. */
export function newAbortController(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

/** What ends the tries early, or takes an error for the result. */
export interface RetryLimits {
  /** Once one of these is aborted nothing is tried again, and the pause under way ends: a closed client must not keep trying. */
  readonly until?: readonly AbortSignal[]
  /** An error that is thrown as it is: it may be retriable in general and is an answer to this question. */
  readonly isAnswer?: ((error: unknown) => boolean) | undefined
}

/**
 * Runs `work` until it succeeds, fails for good, or the policy is used up.
 * Rejects with KafkaJSNumberOfRetriesExceeded or KafkaJSNonRetriableError; their `cause` is the last error.
 */
export async function retrying<Result>(
  { policy, timers, random, until = [], isAnswer }: { policy: RetryPolicy; timers: Timers; random: Random } & RetryLimits,
  work: (attempt: Attempt) => Promise<Result>,
): Promise<Result> {
  const delays = retryDelays(policy, random)
  for (let retryCount = 0, retryTime = 0; ; retryCount++) {
    try {
      return await work({ retryCount, retryTime })
    } catch (error) {
      if (isAnswer?.(error)) throw error
      const failure = error instanceof Error ? error : new Error(String(error))
      if (!mayRetry(error)) {
        throw failure instanceof KafkaJSNonRetriableError ? failure : nonRetriable(failure)
      }
      const delay = delays.next()
      if (!delay.done) await pause(timers, delay.value, until)
      if (delay.done || until.some(({ aborted }) => aborted))
        throw new KafkaJSNumberOfRetriesExceeded(failure, { retryCount, retryTime })
      retryTime = delay.value
    }
  }
}

/** Waits, or until one of the signals is aborted. */
export function pause(timers: Timers, delayMs: number, until: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    if (until.some(({ aborted }) => aborted)) return resolve()
    const end = (): void => {
      cancel()
      for (const signal of until) signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = timers.after(delayMs, end)
    for (const signal of until) signal.addEventListener('abort', end)
  })
}

/** Wraps an error that will not be retried, keeping what programs match on (`type`, `code`) where it has them. */
function nonRetriable(failure: Error): Error {
  if ((failure as { retriable?: boolean }).retriable === false && 'type' in failure) return failure
  return new KafkaJSNonRetriableError(failure, { cause: failure.cause ?? failure })
}
