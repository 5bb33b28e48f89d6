/**
 * One client's connection: frames in, answers out in the same order, one request in flight at a time as Kafka does it. Only requests
 * that follow each other and may overlap (Produce) are begun together, so that what one read brought is written together.
 *
 * Back-pressure has two sides: while a request is in flight and the next one has to wait, nothing more is read from the socket; and while
 * the client does not read its answers, no further request is begun. So a connection holds few requests in flight, the frames of
 * one read behind them, one incomplete frame, and the answers of the requests begun before the socket was full.
 */
import { release, releaseAll } from '@mq/protocol'
import type { NetworkStream } from '../ports.js'
import { type Receiver, receive } from './receive.js'

/** What became of a request: the slices of the answer's frame, each held for the connection; nothing to send; or a reason to close. */
export type Reply = readonly Buffer[] | 'none' | { readonly close: string }

/** Serves one frame (without its length): what became of it, or 'later' and, in another turn, one call of `answered`. Must not throw. */
export type ServeFrame = (frame: Buffer, connection: Connection, answered: (reply: Reply) => void) => Reply | 'later'

export interface ConnectionOwner {
  readonly serve: ServeFrame
  /** Called once, when the socket is gone or about to go. */
  gone(connection: Connection, reason: string): void
  /** May the request of this frame run beside others of which that holds too? Their answers keep their order all the same. */
  mayOverlap(frame: Buffer): boolean
  /** May this request be begun now? If not, `goOn` is called when it may. */
  mayBegin(frame: Buffer, connection: Connection): boolean
  /** The client does not read what was written, or has read it all. */
  stalled(connection: Connection): void
  flowing(connection: Connection): void
  now(): number
}

/** Up to this size the answers of a turn are copied into one Buffer: one small write is cheaper than several. */
const COPY_BELOW_BYTES = 4096
/** So many bytes of answers are written without waiting for others. */
const GATHERED_BYTES = 16 * 1024
/** So many requests of one connection run beside each other. */
const MOST_OVERLAPPING = 64

/** A request in flight, in the order of their arrival; `reply` is set when it may be sent. */
interface Slot {
  reply: Reply | undefined
}

export class Connection {
  /** Monotonic ms of the last byte in or answer out. */
  lastActiveAt: number
  #receiver: Receiver | undefined
  readonly #waiting: Buffer[] = []
  readonly #goneListeners = new Set<() => void>()
  readonly #inFlight: Slot[] = []
  #mayOverlap = false
  #paused = false
  /** Answers of this turn that are not written yet, in order. */
  #unwritten: Buffer[] = []
  #unwrittenBytes = 0
  /** Some of them are memory that is held. */
  #unwrittenAreHeld = false
  readonly #writeNow = () => this.#writeUnwritten()
  #draining = false
  #ended: string | undefined
  /** No further request is begun: it closes when the one in flight is answered and sent. */
  #isEnding = false
  /** Nothing more is written. */
  #isFinished = false
  #closeWhenServed: string | undefined

  constructor(
    readonly id: string,
    readonly listenerName: string,
    readonly clientAddress: string,
    readonly socket: NetworkStream,
    private readonly owner: ConnectionOwner,
    private readonly maxFrameBytes: number,
  ) {
    this.lastActiveAt = owner.now()
    socket.setNoDelay()
    socket.on('error', (error) => this.close(error.message))
    socket.on('close', () => this.close('closed by the client'))
    socket.on('end', () => this.close('closed by the client'))
    socket.on('drain', () => this.#drained())
  }

  /** Begins to read. */
  start(): void {
    if (this.#ended !== undefined) return
    this.#receiver = receive(this.socket, this.maxFrameBytes, {
      received: (frames) => this.#received(frames),
      broken: (error) => this.close(error.message),
    })
  }

  get isIdle(): boolean {
    return this.#inFlight.length === 0
  }

  /** Bytes written that the client has not taken. */
  get unsentBytes(): number {
    return this.socket.writableLength + this.#unwrittenBytes
  }

  /** A request that was held back may be begun. */
  goOn(): void {
    this.#serveWaiting()
  }

  /** Runs `gone` when the connection ends; at once if it has. Returns a function that forgets it. */
  onGone(gone: () => void): () => void {
    if (this.#ended !== undefined) {
      gone()
      return () => {}
    }
    this.#goneListeners.add(gone)
    return () => void this.#goneListeners.delete(gone)
  }

  /** Closes at once; what was not sent is dropped. */
  close(reason: string): void {
    if (this.#ended !== undefined) return
    this.#ended = reason
    this.#dropWaiting()
    this.socket.destroy()
    for (const gone of this.#goneListeners) gone()
    this.#goneListeners.clear()
    this.owner.gone(this, reason)
  }

  /** Answers the request in flight, if there is one, and closes; requests behind it are dropped. */
  closeWhenServed(reason: string): void {
    this.#closeWhenServed = reason
    this.#isEnding = true
    this.#dropWaiting()
    if (this.isIdle) this.closeWhenSent(reason)
  }

  /** Closes after what was written has left; whoever cannot wait for that calls close() as well. */
  closeWhenSent(reason: string): void {
    if (this.#ended !== undefined || this.#isFinished) return
    this.#isEnding = true
    this.#isFinished = true
    this.#dropWaiting()
    this.#writeUnwritten()
    this.socket.end(() => this.close(reason))
  }

  #received(frames: readonly Buffer[]): void {
    if (this.#ended !== undefined || this.#isEnding) {
      releaseAll(frames)
      return
    }
    this.lastActiveAt = this.owner.now()
    for (const frame of frames) this.#waiting.push(frame)
    this.#serveWaiting()
  }

  #dropWaiting(): void {
    releaseAll(this.#waiting.splice(0))
  }

  /** Serves what is here until a request has to wait, the client stops reading, or nothing is left. */
  #serveWaiting(): void {
    while (!this.#draining && !this.#isEnding && this.#ended === undefined) {
      const frame = this.#waiting[0]
      if (frame === undefined) break
      const mayOverlap = this.owner.mayOverlap(frame)
      if (!this.isIdle && !(this.#mayOverlap && mayOverlap && this.#inFlight.length < MOST_OVERLAPPING)) break
      if (!this.owner.mayBegin(frame, this)) {
        this.#holdBack(true)
        return
      }
      this.#waiting.shift()
      this.#mayOverlap = mayOverlap
      this.#begin(frame)
    }
    this.#holdBack((!this.isIdle && this.#waiting.length > 0) || this.#draining)
  }

  #begin(frame: Buffer): void {
    const slot: Slot = { reply: undefined }
    const reply = this.owner.serve(frame, this, (later) => {
      release(frame)
      slot.reply = later
      this.#answered()
    })
    if (reply === 'later') {
      this.#inFlight.push(slot)
      return
    }
    release(frame)
    if (this.isIdle) this.#send(reply)
    else this.#inFlight.push({ reply })
  }

  /** Sends the answers whose turn has come. */
  #answered(): void {
    for (let first = this.#inFlight[0]; first?.reply !== undefined; first = this.#inFlight[0]) {
      this.#inFlight.shift()
      this.#send(first.reply)
    }
    if (this.#closeWhenServed === undefined) this.#serveWaiting()
    else if (this.isIdle) this.closeWhenSent(this.#closeWhenServed)
  }

  #holdBack(hold: boolean): void {
    if (hold === this.#paused || this.#ended !== undefined) return
    this.#paused = hold
    if (hold) this.#receiver?.pause()
    else this.#receiver?.resume()
  }

  #send(reply: Reply): void {
    if (reply === 'none') return
    if (this.#ended !== undefined || this.#isFinished) {
      if (!('close' in reply)) releaseAll(reply)
      return
    }
    if ('close' in reply) {
      // Answers of the requests before this one still go out.
      if (this.unsentBytes > 0) this.closeWhenSent(reply.close)
      else this.close(reply.close)
      return
    }
    // Whatever this callback and the promises that it settles still answer goes out in the same write.
    if (this.#unwrittenBytes === 0) process.nextTick(this.#writeNow)
    for (const slice of reply) {
      this.#unwritten.push(slice)
      this.#unwrittenBytes += slice.length
    }
    // Every frame begins with bytes of its own: one slice alone is nobody else's memory.
    if (reply.length > 1) this.#unwrittenAreHeld = true
    if (this.#unwrittenBytes >= GATHERED_BYTES) this.#writeUnwritten()
  }

  #writeUnwritten(): void {
    if (this.#unwrittenBytes === 0) return
    const slices = this.#unwritten
    const total = this.#unwrittenBytes
    const areHeld = this.#unwrittenAreHeld
    this.#unwritten = []
    this.#unwrittenBytes = 0
    this.#unwrittenAreHeld = false
    if (this.#ended !== undefined) {
      if (areHeld) releaseAll(slices)
      return
    }
    this.lastActiveAt = this.owner.now()
    this.#write(slices, total, areHeld)
    // What the kernel took at once is gone, whatever the stream says of its mark.
    if (this.#draining || !this.socket.writableNeedDrain || this.socket.writableLength === 0) return
    this.#draining = true
    this.owner.stalled(this)
    this.#holdBack(true)
  }

  #write(slices: readonly Buffer[], total: number, areHeld: boolean): void {
    if (total <= COPY_BELOW_BYTES || slices.length === 1) {
      this.socket.write(slices.length === 1 ? slices[0]! : Buffer.concat(slices, total))
      if (areHeld) releaseAll(slices)
      return
    }
    this.socket.cork()
    const last = slices.length - 1
    for (let at = 0; at < last; at++) this.socket.write(slices[at]!)
    if (areHeld) this.socket.write(slices[last]!, () => releaseAll(slices))
    else this.socket.write(slices[last]!)
    this.socket.uncork()
  }

  #drained(): void {
    this.#draining = false
    this.lastActiveAt = this.owner.now()
    this.owner.flowing(this)
    this.#serveWaiting()
  }
}
