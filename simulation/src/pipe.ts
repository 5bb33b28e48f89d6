/** One direction of a connection: bytes arrive in order, in pieces, after a while; a reader that does not read holds the writer back. */
import { crc32c } from '@mq/protocol'
import type { Chance } from './chance.js'
import type { World } from './world.js'

export interface PipeEnds {
  /** Where bytes come out. False while the reader does not read. */
  readonly mayArrive: () => boolean
  readonly arrived: (bytes: Buffer) => void
  /** The writer said that nothing more comes, and all of it has arrived. */
  readonly ended: () => void
  /** All that was written has left. */
  readonly drained: () => void
}

/** What a system holds for a reader that does not read. */
const WINDOW_BYTES = 64 * 1024
/** Above it a writer should wait for `drained`. */
const FULL_AT_BYTES = 16 * 1024

export class Pipe {
  readonly #sent: (Buffer | (() => void))[] = []
  #unsentBytes = 0
  #waitingBytes = 0
  readonly #arrivedWaiting: (Buffer | (() => void))[] = []
  #isScheduled = false
  #isFull = false
  #isClosed = false
  #stalledUntilMs = 0

  constructor(
    readonly name: string,
    readonly world: World,
    readonly chance: Chance,
    private readonly ends: PipeEnds,
  ) {}

  get unsentBytes(): number {
    return this.#unsentBytes
  }

  get isFull(): boolean {
    return this.#isFull
  }

  write(bytes: Buffer): void {
    if (this.#isClosed || bytes.length === 0) return
    this.#unsentBytes += bytes.length
    if (this.#unsentBytes >= FULL_AT_BYTES) this.#isFull = true
    let at = 0
    while (at < bytes.length) {
      const rest = bytes.length - at
      const count = rest > 1 && this.chance.happens(0.15) ? this.chance.whole(1, rest) : rest
      // The writer may use its memory again only when it is told; a copy is what a kernel takes.
      this.#sent.push(Buffer.from(bytes.subarray(at, at + count)))
      at += count
    }
    this.#schedule()
  }

  end(sent: () => void): void {
    if (this.#isClosed) return
    this.#sent.push(sent)
    this.#schedule()
  }

  /** Nothing arrives before that moment. */
  stall(untilMs: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, untilMs)
  }

  /** What is under way is lost. */
  close(): void {
    this.#isClosed = true
    this.#sent.length = 0
    this.#arrivedWaiting.length = 0
  }

  /** The reader reads again. */
  readOn(): void {
    while (this.#arrivedWaiting.length > 0 && this.ends.mayArrive() && !this.#isClosed)
      this.#deliver(this.#arrivedWaiting.shift()!)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed || this.#sent.length === 0 || this.#waitingBytes >= WINDOW_BYTES) return
    this.#isScheduled = true
    // Steps of a twentieth of a millisecond: so that bytes of several connections arrive in one turn.
    const delayMs = Math.round(this.chance.between(0.05, this.chance.happens(0.05) ? 20 : 1) * 20) / 20
    const at = Math.max(this.world.nowMs + delayMs, this.#stalledUntilMs)
    this.world.after(at - this.world.nowMs, `${this.name} arrives`, () => this.#arrive())
  }

  #arrive(): void {
    this.#isScheduled = false
    if (this.#isClosed) return
    if (this.world.nowMs < this.#stalledUntilMs) {
      this.#schedule()
      return
    }
    // One or several pieces arrive together.
    do {
      const piece = this.#sent.shift()
      if (piece === undefined) break
      if (Buffer.isBuffer(piece)) this.#unsentBytes -= piece.length
      else piece()
      if (this.#arrivedWaiting.length > 0 || !this.ends.mayArrive()) {
        this.#arrivedWaiting.push(piece)
        if (Buffer.isBuffer(piece)) this.#waitingBytes += piece.length
      } else this.#deliver(piece, 'at once')
    } while (!this.#isClosed && this.#waitingBytes < WINDOW_BYTES && this.chance.happens(0.7))
    if (this.#isFull && this.#unsentBytes === 0) {
      this.#isFull = false
      this.ends.drained()
    }
    this.#schedule()
  }

  #deliver(piece: Buffer | (() => void), how: 'at once' | 'waited' = 'waited'): void {
    if (!Buffer.isBuffer(piece)) {
      this.ends.ended()
      return
    }
    if (how === 'waited') this.#waitingBytes -= piece.length
    this.world.tell(`${this.name} ${piece.length} bytes ${crc32c(piece).toString(16)}`)
    this.ends.arrived(piece)
  }
}
