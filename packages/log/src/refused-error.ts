/** A refusal of a log as an exception: for those who read and write a log by itself. A broker takes refusals as values. */
import type { LogError, Refused } from './outcomes.js'

export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  /** The name of Kafka's error. */
  readonly error: LogError

  constructor({ error, message }: Pick<Refused, 'error' | 'message'>) {
    super(message)
    this.error = error
  }
}

/** @throws RefusedError instead of answering with a refusal */
export function orThrow<Outcome>(outcome: Outcome | Refused): Outcome {
  if (isRefused(outcome)) throw new RefusedError(outcome)
  return outcome
}

const isRefused = (outcome: unknown): outcome is Refused => (outcome as Refused | null)?.kind === 'refused'
