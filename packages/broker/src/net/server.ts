/**
 * The listeners: accepts connections within the limits, closes idle ones, and stops in order. A process that is out of file descriptors
 * loses the connections that it cannot accept and nothing else.
 */
import type { SlabPool } from '@mq/protocol'
import type { Endpoint } from '../listeners.js'
import type { Clock, Logger, Network, NetworkListener, NetworkStream, Timers } from '../ports.js'
import { Connection, type ServeFrame } from './connection.js'
import { UnsentBudget } from './unsent-budget.js'

export interface ConnectionLimits {
  readonly 'connections.max.idle.ms': number
  readonly 'max.connections': number
  readonly 'max.connections.per.ip': number
  readonly 'max.connections.per.ip.overrides': ReadonlyMap<string, number>
  readonly 'max.connection.creation.rate': number
  readonly 'socket.request.max.bytes': number
  readonly 'socket.listen.backlog.size': number
}

export interface SocketServerOptions {
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly timers: Timers
  readonly network: Network
  readonly memory: SlabPool
  readonly log: Logger
  readonly serve: ServeFrame
  /** May the request of this frame run beside others of its connection of which that holds too? */
  mayOverlap(frame: Buffer): boolean
  /** Is this a request of which nothing is kept once it is answered, or is held? Its frame may lie in memory that is used again. Default: none is. */
  readonly isLent?: (frame: Buffer) => boolean
  /** Is this a request whose answer may be large? It waits while clients leave too much unread. Default: none is. */
  readonly answerMayBeLarge?: (frame: Buffer) => boolean
}

/** Where a listener really listens. */
export interface Bound extends Endpoint {
  readonly address: string
}

/** Why a listener could not open: what the line to the user needs. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  constructor(
    readonly endpoint: Endpoint,
    readonly code: string,
    detail: string,
  ) {
    super(detail)
  }
}

const ACCEPT_ERROR_LOG_MS = 10_000
/** Answers that clients have not read, of all connections together, before requests with large answers have to wait. */
const MOST_UNSENT_BYTES = 512 * 1024 * 1024
/** So long a client may take nothing while there is more than that. */
const UNSENT_PATIENCE_MS = 3000

export class SocketServer {
  readonly #listeners: NetworkListener[] = []
  readonly #connections = new Map<string, Connection>()
  readonly #perAddress = new Map<string, number>()
  readonly #options: SocketServerOptions
  readonly #unsent: UnsentBudget
  #count = 0
  #nextConnection = 0
  #mayAcceptAt = 0
  #acceptErrorLoggedAt = Number.NEGATIVE_INFINITY
  #stopSweep: (() => void) | undefined
  #closing = false
  #isOpen = false
  readonly #held: (() => void)[] = []
  #whenEmpty: (() => void) | undefined

  constructor(options: SocketServerOptions) {
    this.#options = options
    this.#unsent = new UnsentBudget({ ...options, limitBytes: MOST_UNSENT_BYTES, patienceMs: UNSENT_PATIENCE_MS })
    this.#mayAcceptAt = options.clock.monotonic()
  }

  /** Opens one listener. Rejects with a ListenError; listeners that are open stay open until `close`. */
  async listen(endpoint: Endpoint): Promise<Bound> {
    const { limits, log, network, memory } = this.#options
    let listener: NetworkListener
    try {
      listener = await network.listen({
        host: endpoint.host,
        port: endpoint.port,
        backlog: limits['socket.listen.backlog.size'],
        maxFrameBytes: limits['socket.request.max.bytes'],
        memory,
        isLent: this.#options.isLent ?? (() => false),
        accepted: (stream) => this.#accepted(stream, endpoint.name),
        failed: (error) => this.#acceptFailed(error, endpoint),
      })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw new ListenError(endpoint, code ?? '', message)
    }
    this.#listeners.push(listener)
    const bound = { ...endpoint, port: listener.port, address: listener.address }
    this.#sweepLater()
    log.debug({ listener: bound.name, address: bound.address, port: bound.port }, 'listening')
    return bound
  }

  /** Closes the listeners again, to open others: only before `open`. */
  unlisten(): void {
    for (const listener of this.#listeners.splice(0)) void listener.close()
    for (const connection of this.#connections.values()) connection.close('the listener closes')
  }

  /** From now on requests are read. Connections that came before have waited. */
  open(): void {
    this.#isOpen = true
    for (const start of this.#held.splice(0)) start()
  }

  get connectionCount(): number {
    return this.#connections.size
  }

  /** Stops accepting; requests in flight may end until `withinMs` have passed, then their connections are closed. */
  async close(withinMs: number): Promise<void> {
    this.#closing = true
    this.#stopSweep?.()
    this.#unsent.close()
    const closed = this.#listeners.splice(0).map((listener) => listener.close())
    for (const connection of this.#connections.values()) connection.closeWhenServed('the broker stops')
    if (this.#connections.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#options.timers.after(withinMs, () => {
          for (const connection of this.#connections.values()) connection.close('the broker stops')
          resolve()
        })
        this.#whenEmpty = () => {
          cancel()
          resolve()
        }
      })
    }
    await Promise.all(closed)
  }

  /** Closes every connection and listener at once. */
  destroy(): void {
    this.#closing = true
    this.#stopSweep?.()
    this.#unsent.close()
    for (const listener of this.#listeners.splice(0)) void listener.close()
    for (const connection of this.#connections.values()) connection.close('the broker stops')
  }

  #accepted(socket: NetworkStream, listenerName: string): void {
    const { limits, clock, timers } = this.#options
    const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
    const ofAddress = (this.#perAddress.get(address) ?? 0) + 1
    const mostOfAddress = limits['max.connections.per.ip.overrides'].get(address) ?? limits['max.connections.per.ip']
    if (this.#closing || this.#count >= limits['max.connections'] || ofAddress > mostOfAddress) {
      socket.destroy()
      return
    }
    this.#count++
    this.#perAddress.set(address, ofAddress)
    const id = `${socket.localAddress}:${socket.localPort}-${address}:${socket.remotePort}-${this.#nextConnection++}`
    const owner = {
      serve: this.#options.serve,
      gone: (connection: Connection, reason: string) => this.#gone(connection, reason),
      mayOverlap: (frame: Buffer) => this.#options.mayOverlap(frame),
      mayBegin: (frame: Buffer, connection: Connection) =>
        this.#options.answerMayBeLarge?.(frame) !== true || this.#unsent.mayBegin(connection),
      stalled: (connection: Connection) => this.#unsent.stalled(connection),
      flowing: (connection: Connection) => this.#unsent.flowing(connection),
      now: () => clock.monotonic(),
    }
    const connection = new Connection(id, listenerName, address, socket, owner, limits['socket.request.max.bytes'])
    this.#connections.set(id, connection)
    const start = () => {
      if (this.#isOpen) connection.start()
      else this.#held.push(() => connection.start())
    }
    const waitMs = this.#creationDelay(clock.monotonic())
    if (waitMs <= 0) start()
    else connection.onGone(timers.after(waitMs, start))
  }

  /** Connections above `max.connection.creation.rate` are read from only when their turn has come. */
  #creationDelay(now: number): number {
    const rate = this.#options.limits['max.connection.creation.rate']
    if (rate >= 2 ** 31 - 1) return 0
    // One second's worth may come at once.
    const at = Math.max(now - 1000, this.#mayAcceptAt)
    this.#mayAcceptAt = at + 1000 / Math.max(rate, 0.001)
    return this.#mayAcceptAt - now
  }

  #gone(connection: Connection, reason: string): void {
    if (!this.#connections.delete(connection.id)) return
    this.#unsent.gone(connection)
    this.#count--
    const left = (this.#perAddress.get(connection.clientAddress) ?? 1) - 1
    if (left > 0) this.#perAddress.set(connection.clientAddress, left)
    else this.#perAddress.delete(connection.clientAddress)
    this.#options.log.debug({ connection: connection.id, reason }, 'connection closed')
    if (this.#connections.size === 0) this.#whenEmpty?.()
  }

  #acceptFailed(error: Error & { readonly code?: string }, endpoint: Endpoint): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#acceptErrorLoggedAt < ACCEPT_ERROR_LOG_MS) return
    this.#acceptErrorLoggedAt = now
    this.#options.log.error({ listener: endpoint.name, code: error.code }, `cannot accept connections: ${error.message}`)
  }

  /** Looks for idle connections a few times in the idle limit, and no more often than needed. */
  #sweepLater(): void {
    const limit = this.#options.limits['connections.max.idle.ms']
    if (limit < 0 || this.#stopSweep !== undefined) return
    this.#stopSweep = this.#options.timers.after(Math.min(Math.max(limit / 8, 50), 30_000), () => {
      this.#stopSweep = undefined
      const idleSince = this.#options.clock.monotonic() - limit
      for (const connection of this.#connections.values()) {
        if (connection.isIdle && connection.lastActiveAt <= idleSince) connection.close('idle for too long')
      }
      if (!this.#closing) this.#sweepLater()
    })
  }
}
