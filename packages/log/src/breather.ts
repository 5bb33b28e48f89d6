/** Lets the event loop go on in a walk over many logs or files: each step is short, ten thousand of them are not. */
import type { Clock, Turn } from './ports.js'

/** A walk goes on for so long before others have their turn. */
const LONGEST_MS = 5

export class Breather {
  readonly #clock: Clock
  readonly #turn: Turn | undefined
  #since: number

  /** `pause` is a turn for this alone, default the common one. Without either nobody else is let in. */
  constructor(of: { readonly clock: Clock; readonly turn?: Turn | undefined; readonly pause?: Turn | undefined }) {
    const { clock, turn, pause = turn } = of
    this.#clock = clock
    this.#turn = pause
    this.#since = clock.monotonic()
  }

  /** Asked for at every step. */
  async breathe(): Promise<void> {
    const turn = this.#turn
    if (turn === undefined || this.#clock.monotonic() - this.#since < LONGEST_MS) return
    await new Promise<void>((goOn) => turn.afterThisTurn(goOn))
    this.#since = this.#clock.monotonic()
  }
}
