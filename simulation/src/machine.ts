/** The machine that the broker runs on: its disk outlives the processes; each start is a new process with a new view of the disk. */
import { type BrokerFailure, type Logger, type RunningBroker, startBroker } from '@mq/broker'
import { MemoryDisk } from '@mq/log'
import { SlabPool } from '@mq/protocol'
import type { Chance } from './chance.js'
import type { BrokenRule } from './chaos.js'
import { ProcessDisk } from './disk.js'
import type { SimulatedNetwork } from './network.js'
import { Process } from './process.js'
import type { Violations } from './violations.js'
import type { World } from './world.js'

export const PORT = 9092
const DIRECTORY = '/data'

export type Ending =
  | { readonly kind: 'killed' }
  | { readonly kind: 'closed'; readonly failure: BrokerFailure | null }
  | { readonly kind: 'not started'; readonly reason: string }

/** One process of a broker, from its start to its end. */
export class Life {
  broker: RunningBroker | undefined
  /** An operation of the disk was made to fail: it may stop by itself. */
  isHurt = false
  /** It was told to stop. */
  isStopping = false

  constructor(
    readonly process: Process,
    readonly disk: ProcessDisk,
    /** Resolves once it serves, or has ended. */
    readonly started: Promise<Ending | null>,
    readonly ended: Promise<Ending>,
  ) {}

  get isUp(): boolean {
    return this.broker !== undefined && this.process.isAlive
  }
}

export class Machine {
  #platter: MemoryDisk
  #starts = 0

  constructor(
    readonly world: World,
    readonly network: SimulatedNetwork,
    readonly chance: Chance,
    readonly configs: Readonly<Record<string, string>>,
    readonly violations: Violations,
    readonly without?: BrokenRule,
  ) {
    this.#platter = new MemoryDisk({ now: () => world.wallMs })
  }

  get starts(): number {
    return this.#starts
  }

  /** Whether the mark of a clean stop is on the disk. */
  get hasCleanMark(): boolean {
    return this.#platter.statNow(`${DIRECTORY}/.kafka_cleanshutdown`) !== null
  }

  begin(): Life {
    const { world, violations } = this
    const name = `broker${++this.#starts}`
    const process = new Process(name, 1000 + this.#starts, world, (error) => {
      violations.note('an exception that nobody caught', `${name}: ${(error as Error).stack}`)
      process.kill()
    })
    const disk = new ProcessDisk(process, this.#platter, this.chance.stream(`${name} disk`), this.without)
    const random = this.chance.stream(`${name} random`)
    world.tell(`${name} starts`)
    const killed = new Promise<Ending>((resolve) => {
      process.onKill(() => {
        world.tell(`${name} is dead`)
        resolve({ kind: 'killed' })
      })
    })
    const starting = startBroker({
      directory: DIRECTORY,
      disk,
      configs: this.configs,
      environment: {
        clock: { now: () => world.wallMs, monotonic: () => world.nowMs },
        timers: { after: (ms, fire) => process.after(ms, 'timer', fire) },
        turn: { afterThisTurn: (run) => process.afterThisTurn(run) },
        random: { next: () => random.next(), bytes: (count) => random.bytes(count) },
        network: this.network.of(process),
        memory: new SlabPool({ poison: true }),
        processes: {
          self: { pid: process.pid, startedAt: String(this.#starts) },
          isRunning: ({ pid }) => pid === process.pid,
          holdsAdvisoryLock: () => false,
        },
      },
      log: this.#logger(process),
    })
    const started = Promise.race([
      killed,
      starting.then(
        (broker) => {
          life.broker = broker
          return null
        },
        (error: unknown): Ending => ({ kind: 'not started', reason: (error as Error).message }),
      ),
    ])
    const ended = started.then((early) =>
      early !== null
        ? early
        : Promise.race([killed, life.broker!.closed.then((failure): Ending => ({ kind: 'closed', failure }))]),
    )
    const life: Life = new Life(process, disk, started, ended)
    return life
  }

  /**
   * What was not synced may be lost: none of it, all of it, or any part, torn and in any order. Names are lost from some point on: a
   * journal of the file system keeps their order. (On one that does not, a segment may be gone between two that are there, and a
   * start does not notice; Kafka's neither.)
   */
  cutPower(): void {
    const { chance, world } = this
    const losing = chance.one([0, 0.3, 0.7, 1])
    let lost = 0
    let torn = 0
    let keepsNames = true
    this.#platter = this.#platter.crash(
      ({ sizeInBytes }) => {
        if (!chance.happens(losing)) return sizeInBytes
        if (sizeInBytes > 1 && chance.happens(0.3)) {
          torn++
          return chance.whole(1, sizeInBytes)
        }
        lost++
        return 0
      },
      () => {
        keepsNames = keepsNames && !chance.happens(losing / 4)
        return keepsNames
      },
    )
    world.tell(`the power is cut: ${lost} writes lost, ${torn} torn`)
  }

  #logger(process: Process): Logger {
    const say = (level: string) => (_fields: object, message: string) => {
      if (process.isAlive) this.world.tell(`${process.name} says ${level}: ${message}`)
    }
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
  }
}
