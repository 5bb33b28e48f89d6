/** What all simulated clients have in common: a process, a connection that is made again when it is lost, time to wait. */
import type { Chance } from './chance.js'
import { Link, LinkLost } from './link.js'
import { PORT } from './machine.js'
import type { SimulatedNetwork } from './network.js'
import { Process } from './process.js'
import type { Violations } from './violations.js'
import type { World } from './world.js'

export interface Surroundings {
  readonly world: World
  readonly network: SimulatedNetwork
  readonly chance: Chance
  readonly violations: Violations
  /** Whether the broker may be reached: not before what is on its disk was looked at. */
  readonly isOpen: () => boolean
}

export class Client {
  readonly process: Process
  readonly chance: Chance
  #link: Link | undefined

  constructor(
    readonly name: string,
    readonly around: Surroundings,
    private readonly entrance: 'waits for the inspection' | 'inspects' = 'waits for the inspection',
  ) {
    this.chance = around.chance.stream(name)
    this.process = new Process(name, 1, around.world, (error) =>
      around.violations.note('a client saw what may not be', `${name}: ${(error as Error).message}`),
    )
  }

  /** Who inspects waits for the slowest disk. */
  get #patienceMs(): number {
    return this.entrance === 'inspects' ? 60_000 : 4000
  }

  get world(): World {
    return this.around.world
  }

  sleep(fromMs: number, toMs = fromMs): Promise<void> {
    return this.world.sleep(fromMs === toMs ? fromMs : this.chance.between(fromMs, toMs))
  }

  tell(line: string): void {
    this.world.tell(`${this.name} ${line}`)
  }

  /** The connection, made if there is none. Rejects with LinkLost when it cannot be made now. */
  async link(): Promise<Link> {
    if (this.#link !== undefined && !this.#link.isLost) return this.#link
    if (this.entrance === 'waits for the inspection' && !this.around.isOpen()) throw new LinkLost('refused')
    try {
      this.#link = new Link(await this.around.network.connect(this.process, PORT), this.process, this.#patienceMs)
      return this.#link
    } catch (error) {
      throw new LinkLost((error as Error).message)
    }
  }

  hangUp(): void {
    this.#link?.close('hung up')
    this.#link = undefined
  }

  /** Tries until it succeeds or `isOver` says so; then undefined. Whatever was lost on the way may have been done. */
  async retry<R>(isOver: () => boolean, attempt: (link: Link) => Promise<R>): Promise<R | undefined> {
    for (let tries = 0; ; tries++) {
      try {
        return await attempt(await this.link())
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        if (isOver()) return undefined
        await this.sleep(5, Math.min(20 * 2 ** tries, 500))
      }
    }
  }
}
