/**
 * One client's connection: frames in, answers out in the same order, one request in flight at a time as Kafka does it.
 *
 * Back-pressure has two sides: while a request is in flight and the next one is here, nothing more is read from the socket; and while the
 * client does not read its answers, no further request is begun. So a connection holds at most one request in flight, the frames of
 * one read behind it, one incomplete frame, and the answers of the requests begun before the socket was full.
 */
import type { Socket } from 'node:net'
import { type Receiver, receive } from './receive.js'

/** What became of a request: the slices of the answer's frame, nothing to send, or a reason to close. */
export type Reply = readonly Buffer[] | 'none' | { readonly close: string }

export interface ConnectionOwner {
  /** Serves one frame (without its length). Must not throw; a promise must not reject. */
  serve(frame: Buffer, connection: Connection): Reply | Promise<Reply>
  /** Called once, when the socket is gone or about to go. */
  gone(connection: Connection, reason: string): void
  afterThisTurn(run: () => void): void
  now(): number
}

/** An answer up to this size is copied into one Buffer: one small write is cheaper than several. */
const COPY_BELOW_BYTES = 4096

export class Connection {
  /** Monotonic ms of the last byte in or answer out. */
  lastActiveAt: number
  #receiver: Receiver | undefined
  readonly #waiting: Buffer[] = []
  readonly #goneListeners = new Set<() => void>()
  #inFlight = false
  #paused = false
  #corked = false
  #draining = false
  #ended: string | undefined
  #closeWhenServed: string | undefined

  constructor(
    readonly id: string,
    readonly listenerName: string,
    readonly clientAddress: string,
    readonly socket: Socket,
    private readonly owner: ConnectionOwner,
    private readonly maxFrameBytes: number,
  ) {
    this.lastActiveAt = owner.now()
    socket.setNoDelay(true)
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
    return !this.#inFlight
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
    this.#waiting.length = 0
    this.socket.destroy()
    for (const gone of this.#goneListeners) gone()
    this.#goneListeners.clear()
    this.owner.gone(this, reason)
  }

  /** Answers the request in flight, if there is one, and closes; requests behind it are dropped. */
  closeWhenServed(reason: string): void {
    this.#closeWhenServed = reason
    if (!this.#inFlight) this.closeWhenSent(reason)
  }

  /** Closes after what was written has left; whoever cannot wait for that calls close() as well. */
  closeWhenSent(reason: string): void {
    if (this.#ended !== undefined) return
    if (this.#corked) this.#uncork()
    this.socket.end(() => this.close(reason))
  }

  #received(frames: readonly Buffer[]): void {
    if (this.#ended !== undefined) return
    this.lastActiveAt = this.owner.now()
    for (const frame of frames) this.#waiting.push(frame)
    this.#serveWaiting()
  }

  /** Serves what is here until a request has to wait, the client stops reading, or nothing is left. */
  #serveWaiting(): void {
    while (!this.#inFlight && !this.#draining && this.#ended === undefined) {
      const frame = this.#waiting.shift()
      if (frame === undefined) break
      const reply = this.owner.serve(frame, this)
      if (reply instanceof Promise) {
        this.#inFlight = true
        void reply.then((later) => {
          this.#inFlight = false
          this.#send(later)
          if (this.#closeWhenServed !== undefined) this.closeWhenSent(this.#closeWhenServed)
          else this.#serveWaiting()
        })
      } else this.#send(reply)
    }
    this.#holdBack((this.#inFlight && this.#waiting.length > 0) || this.#draining)
  }

  #holdBack(hold: boolean): void {
    if (hold === this.#paused || this.#ended !== undefined) return
    this.#paused = hold
    if (hold) this.#receiver?.pause()
    else this.#receiver?.resume()
  }

  #send(reply: Reply): void {
    if (this.#ended !== undefined || reply === 'none') return
    if ('close' in reply) {
      // Answers of the requests before this one still go out.
      this.#waiting.length = 0
      if (this.socket.writableLength > 0) this.closeWhenSent(reply.close)
      else this.close(reply.close)
      return
    }
    this.lastActiveAt = this.owner.now()
    if (!this.#corked) {
      this.#corked = true
      this.socket.cork()
      this.owner.afterThisTurn(() => this.#uncork())
    }
    let total = 0
    for (const slice of reply) total += slice.length
    if (total <= COPY_BELOW_BYTES && reply.length > 1) this.socket.write(Buffer.concat(reply, total))
    else for (const slice of reply) this.socket.write(slice)
    this.#draining = this.socket.writableNeedDrain
  }

  #uncork(): void {
    if (!this.#corked) return
    this.#corked = false
    this.socket.uncork()
  }

  #drained(): void {
    this.#draining = false
    this.lastActiveAt = this.owner.now()
    this.#serveWaiting()
  }
}
