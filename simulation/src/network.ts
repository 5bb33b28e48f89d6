/**
 * A network in memory: listeners of processes, and connections that deliver late, in pieces, hold writers back, are cut with or without
 * either side learning of it, and end with the process on either side.
 */
import type { ListenOptions, Network, NetworkListener, NetworkStream } from '@mq/broker'
import type { Chance } from './chance.js'
import { Pipe } from './pipe.js'
import type { Process } from './process.js'
import type { World } from './world.js'

/** One side of a connection, shaped as a socket of Node. */
export class SimulatedStream implements NetworkStream {
  readonly #listeners = new Map<string, ((value: never) => void)[]>()
  #out: Pipe | undefined
  #in: Pipe | undefined
  #isPaused = true
  #isCorked = false
  readonly #corked: Buffer[] = []
  /** To be told once what is corked has been copied. */
  readonly #copied: (() => void)[] = []
  #isEnded = false
  #isDestroyed = false
  #whenGone: () => void = () => {}

  constructor(
    readonly process: Process,
    readonly localAddress: string,
    readonly localPort: number,
    readonly remoteAddress: string,
    readonly remotePort: number,
  ) {}

  join(out: Pipe, into: Pipe, gone: () => void): void {
    this.#out = out
    this.#in = into
    this.#whenGone = gone
  }

  get isDestroyed(): boolean {
    return this.#isDestroyed
  }

  get isReading(): boolean {
    return !this.#isPaused && !this.#isDestroyed
  }

  get writableLength(): number {
    return (this.#out?.unsentBytes ?? 0) + this.#corked.reduce((sum, { length }) => sum + length, 0)
  }

  get writableNeedDrain(): boolean {
    return this.#out?.isFull ?? false
  }

  setNoDelay(): void {}

  on(event: 'data', listener: (chunk: Buffer) => void): this
  on(event: 'error', listener: (error: Error) => void): this
  on(event: 'end' | 'close' | 'drain', listener: () => void): this
  on(event: string, listener: (value: never) => void): this {
    const all = this.#listeners.get(event) ?? []
    all.push(listener)
    this.#listeners.set(event, all)
    return this
  }

  emit(event: string, value?: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) this.process.run(() => listener(value as never))
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.process.after(0, 'reads on', () => {
      if (this.isReading) this.#in?.readOn()
    })
  }

  cork(): void {
    this.#isCorked = true
  }

  uncork(): void {
    this.#isCorked = false
    const all = this.#corked.splice(0)
    if (all.length > 0 && this.#mayWrite) this.#out?.write(Buffer.concat(all))
    for (const done of this.#copied.splice(0)) done()
  }

  get #mayWrite(): boolean {
    return this.process.isAlive && !this.#isDestroyed
  }

  write(bytes: Buffer, done?: () => void): boolean {
    if (!this.#mayWrite || this.#isEnded) return false
    if (this.#isCorked) {
      this.#corked.push(bytes)
      if (done !== undefined) this.#copied.push(done)
    } else {
      this.#out?.write(bytes)
      done?.()
    }
    return !this.writableNeedDrain
  }

  end(sent: () => void = () => {}): void {
    if (!this.#mayWrite || this.#isEnded) return
    this.uncork()
    this.#isEnded = true
    this.#out?.end(() => this.process.run(sent))
  }

  destroy(): void {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    if (!this.process.isAlive) return
    this.process.after(0, 'close', () => this.emit('close'))
    this.#whenGone()
  }

  /** What this side is told when the connection is gone: nothing, if it has closed it itself. */
  lost(error: string | null): void {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    if (error !== null) this.emit('error', Object.assign(new Error(error), { code: error }))
    this.emit('close')
  }
}

export class Connection {
  readonly client: SimulatedStream
  readonly server: SimulatedStream
  readonly #pipes: readonly [Pipe, Pipe]
  #isCut = false

  constructor(
    readonly name: string,
    readonly network: SimulatedNetwork,
    sides: { readonly client: SimulatedStream; readonly server: SimulatedStream },
  ) {
    const { world, chance } = network
    const { client, server } = sides
    this.client = client
    this.server = server
    const toServer = pipe(`${name}>`, client, server)
    const toClient = pipe(`${name}<`, server, client)
    this.#pipes = [toServer, toClient]
    client.join(toServer, toClient, () => this.#closedBy(toServer, server))
    server.join(toClient, toServer, () => this.#closedBy(toClient, client))

    function pipe(label: string, from: SimulatedStream, to: SimulatedStream): Pipe {
      return new Pipe(label, world, chance, {
        mayArrive: () => to.isReading && to.process.isAlive,
        arrived: (bytes) => to.emit('data', bytes),
        ended: () => to.emit('end'),
        drained: () => {
          if (!from.isDestroyed) from.emit('drain')
        },
      })
    }
  }

  get isGone(): boolean {
    return this.#isCut || (this.client.isDestroyed && this.server.isDestroyed)
  }

  /** One side has closed: the other one learns it after what was sent, or sooner and without that. */
  #closedBy(out: Pipe, other: SimulatedStream): void {
    const { chance, world } = this.network
    const tell = () => other.lost(null)
    if (chance.happens(0.5)) out.end(tell)
    else world.after(chance.between(0.05, 2), `${this.name} closed`, tell)
  }

  /** Bytes under way are lost; each side is told after a while, or never. */
  cut(tell: { readonly client: boolean; readonly server: boolean }): void {
    if (this.#isCut) return
    this.#isCut = true
    const { chance, world } = this.network
    for (const pipe of this.#pipes) pipe.close()
    for (const side of ['client', 'server'] as const) {
      if (tell[side]) world.after(chance.between(0.05, 5), `${this.name} reset`, () => this[side].lost('ECONNRESET'))
    }
    world.tell(`${this.name} is cut`)
  }

  stall(untilMs: number): void {
    for (const pipe of this.#pipes) pipe.stall(untilMs)
    this.network.world.tell(`${this.name} stands still until ${untilMs.toFixed(3)}`)
  }
}

export class SimulatedNetwork {
  readonly #listeners = new Map<number, { readonly process: Process; readonly options: ListenOptions; connections: number }>()
  #connections: Connection[] = []
  #made = 0

  constructor(
    readonly world: World,
    readonly chance: Chance,
  ) {}

  /** Those that are not gone on both sides. */
  get #open(): readonly Connection[] {
    this.#connections = this.#connections.filter(({ isGone }) => !isGone)
    return this.#connections
  }

  /** Those that may be broken: the inspection is to see the broker, not the network. */
  get breakable(): readonly Connection[] {
    return this.#open.filter(({ name }) => !name.startsWith('inspector'))
  }

  /** The network as one process sees it. */
  of(process: Process): Network {
    return {
      listen: async (options) => {
        const port = options.port === 0 ? 9092 : options.port
        const taken = this.#listeners.get(port)
        if (taken?.process.isAlive) throw Object.assign(new Error('the port is taken'), { code: 'EADDRINUSE' })
        this.#listeners.set(port, { process, options, connections: 0 })
        process.onKill(() => this.#gone(process))
        const listener: NetworkListener = {
          address: options.host,
          port,
          close: async () => {
            if (this.#listeners.get(port)?.process === process) this.#listeners.delete(port)
          },
        }
        return listener
      },
    }
  }

  /** Resolves with the client's side; rejects when nobody listens. */
  async connect(process: Process, port: number): Promise<SimulatedStream> {
    await this.world.sleep(this.chance.between(0.1, 2))
    const listener = this.#listeners.get(port)
    if (!listener?.process.isAlive) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    const number = ++this.#made
    const client = new SimulatedStream(process, '10.0.0.1', 40_000 + number, '10.0.0.9', port)
    const server = new SimulatedStream(listener.process, '10.0.0.9', port, '10.0.0.1', 40_000 + number)
    this.#connections.push(new Connection(`${process.name}#${number}`, this, { client, server }))
    this.world.tell(`${process.name}#${number} connected`)
    listener.process.run(() => listener.options.accepted(server))
    client.resume()
    return client
  }

  /** The system closes what a dead process had open; the other sides learn it. */
  #gone(process: Process): void {
    for (const [port, listener] of this.#listeners) if (listener.process === process) this.#listeners.delete(port)
    for (const connection of this.#open) {
      if (connection.server.process === process) connection.cut({ client: true, server: false })
      else if (connection.client.process === process) connection.cut({ client: false, server: true })
    }
  }
}
