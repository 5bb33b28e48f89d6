/** The real clock, timers, random numbers, network and processes. Everything else in the broker gets them passed in. */
import { randomFillSync } from 'node:crypto'
import { nodeProcesses } from '@mq/log'
import { SlabPool } from '@mq/protocol'
import { nodeNetwork } from './net/node-network.js'
import type { Clock, Environment, Random, Timers, Turn } from './ports.js'

/** Longest delay that setTimeout takes; a longer one is waited for in parts. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

export const nodeClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

export const nodeTimers: Timers = {
  after(ms, fire) {
    let timeout: NodeJS.Timeout
    const wait = (left: number) => {
      const part = Math.min(left, LONGEST_TIMEOUT_MS)
      timeout = setTimeout(() => (left > part ? wait(left - part) : fire()), Math.max(0, part))
    }
    wait(Number.isNaN(ms) ? 0 : ms)
    return () => clearTimeout(timeout)
  },
}

/** Random bytes are drawn many at a time: a call for 16 of them costs more than the bytes. */
const POOL_BYTES = 4096
let pool = Buffer.alloc(0)
let poolAt = 0

function randomBytes(count: number): Buffer {
  if (count > POOL_BYTES) return randomFillSync(Buffer.allocUnsafe(count))
  if (poolAt + count > pool.length) {
    pool = randomFillSync(Buffer.allocUnsafeSlow(POOL_BYTES))
    poolAt = 0
  }
  const bytes = Buffer.from(pool.subarray(poolAt, poolAt + count))
  pool.fill(0, poolAt, poolAt + count) // what was given out is nobody else's business
  poolAt += count
  return bytes
}

export const nodeRandom: Random = { next: () => Math.random(), bytes: randomBytes }

/** One visit of the event loop for all that a turn put off: answers of several logs then leave together, too. */
export class NodeTurn implements Turn {
  readonly #visit: (run: () => void) => void
  #putOff: (() => void)[] = []

  constructor(visit: (run: () => void) => void = setImmediate) {
    this.#visit = visit
  }

  afterThisTurn(run: () => void): void {
    if (this.#putOff.push(run) === 1) this.#visit(() => this.#run())
  }

  #run(): void {
    const due = this.#putOff
    this.#putOff = []
    let at = 0
    try {
      while (at < due.length) due[at++]!()
    } finally {
      // Whoever throws does so alone.
      for (const run of due.slice(at)) this.afterThisTurn(run)
    }
  }
}

export function nodeEnvironment(): Environment {
  return {
    clock: nodeClock,
    timers: nodeTimers,
    random: nodeRandom,
    turn: new NodeTurn(),
    network: nodeNetwork,
    memory: new SlabPool(),
    processes: nodeProcesses,
  }
}
