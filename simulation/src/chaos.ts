/** What goes wrong, by the seed: kills at any operation of the disk, power cuts, failing and slow disks, jumps of the clock, broken connections. */
import type { DiskErrorCode } from '@mq/log'
import type { Chance } from './chance.js'
import type { Fate, Operation, OperationKind } from './disk.js'
import type { Life } from './machine.js'
import type { SimulatedNetwork } from './network.js'
import type { Reached } from './reached.js'
import type { World } from './world.js'

/** A safety rule that a run does without, so that the checkers must object. */
export type BrokenRule =
  /** A write is acknowledged by the disk and never made. */
  | 'written before acknowledged'
  /** A sync promises and does nothing. */
  | 'synced before acknowledged'
  /** What recovery wants to cut off stays. */
  | 'cut in recovery'

export const BROKEN_RULES: readonly BrokenRule[] = [
  'written before acknowledged',
  'synced before acknowledged',
  'cut in recovery',
]

type Plan =
  | { readonly kind: 'kill'; readonly at: number; readonly share: number }
  | { readonly kind: 'fail'; readonly at: number; readonly code: DiskErrorCode; readonly on: readonly OperationKind[] }

const DONE: Fate = { kind: 'done' }

export class Chaos {
  #isOver = false
  #life: Life | undefined
  #plan: Plan | undefined

  constructor(
    readonly world: World,
    readonly network: SimulatedNetwork,
    readonly chance: Chance,
    readonly reached: Reached,
  ) {}

  /** A new process begins; it may be killed as early as in its recovery. */
  began(life: Life): void {
    this.#life = life
    this.#plan = undefined
    life.disk.fate = (operation) => this.#fateOf(life, operation)
    if (!this.#isOver && this.chance.happens(0.25)) this.#planKill(life, this.chance.whole(0, 120))
  }

  end(): void {
    this.#isOver = true
    this.#plan = undefined
  }

  async run(forMs: number): Promise<void> {
    const end = this.world.nowMs + forMs
    while (this.world.nowMs < end) {
      await this.world.sleep(this.chance.between(20, 1200))
      const life = this.#life
      if (life !== undefined) this.#strike(life)
    }
    this.end()
  }

  #strike(life: Life): void {
    const { chance, reached } = this
    const dice = chance.next()
    if (dice < 0.2) {
      if (life.isUp) this.#planKill(life, life.disk.changes + chance.whole(0, 60))
    } else if (dice < 0.25) {
      if (life.isUp) reached.count('killed between two operations')
      life.process.kill()
    } else if (dice < 0.32) {
      if (life.isUp) {
        reached.count('stopped cleanly')
        life.isStopping = true
        void life.broker?.close()
        if (chance.happens(0.4)) this.#planKill(life, life.disk.changes + chance.whole(0, 40))
      }
    } else if (dice < 0.45) this.#planFailure(life)
    else if (dice < 0.55) this.#jumpClock()
    else this.#breakConnections()
  }

  #planKill(_life: Life, at: number): void {
    this.#plan = { kind: 'kill', at, share: this.chance.one([0, 1, this.chance.next()]) }
  }

  #planFailure(life: Life): void {
    if (!life.isUp) return
    const { chance } = this
    const [code, on] = chance.one<readonly [DiskErrorCode, readonly OperationKind[]]>([
      ['ENOSPC', ['write']],
      ['EIO', ['write']],
      ['EIO', ['sync', 'syncDirectory']],
      ['EIO', ['read']],
      ['EIO', ['rename']],
    ])
    this.#plan = { kind: 'fail', at: life.disk.changes + chance.whole(0, 30), code, on }
  }

  #fateOf(life: Life, { kind, number }: Operation): Fate {
    const { chance, reached } = this
    const plan = this.#plan
    if (plan?.kind === 'kill' && number >= plan.at) {
      this.#plan = undefined
      reached.count(life.broker === undefined ? `killed in ${kind} while it starts` : `killed in ${kind}`)
      return { kind: 'kill', share: kind === 'write' ? plan.share : Math.round(plan.share) }
    }
    if (plan?.kind === 'fail' && life.disk.changes >= plan.at && plan.on.includes(kind)) {
      this.#plan = undefined
      life.isHurt = true
      reached.count(`${kind} failed with ${plan.code}`)
      return { kind: 'fail', code: plan.code }
    }
    if (this.#isOver) return DONE
    if (kind === 'write' && chance.happens(0.005)) {
      reached.count('short write')
      return { kind: 'short', share: chance.next() }
    }
    if ((kind === 'sync' || kind === 'syncDirectory') && chance.happens(0.005)) {
      reached.count('slow sync')
      return { kind: 'slow', ms: chance.between(100, 5000) }
    }
    return DONE
  }

  #jumpClock(): void {
    const byMs = Math.round(this.chance.between(-50, 50) * 60_000)
    this.world.jumpWallClock(byMs)
    this.reached.count(byMs < 0 ? 'clock set back' : 'clock set forward')
    this.world.tell(`the clock is set by ${byMs} ms`)
  }

  #breakConnections(): void {
    const { chance, reached, world } = this
    const open = this.network.breakable
    if (open.length === 0) return
    const connection = chance.one(open)
    if (chance.happens(0.4)) {
      connection.stall(world.nowMs + chance.between(10, 6000))
      reached.count('connection stood still')
      return
    }
    const tell = { client: chance.happens(0.7), server: chance.happens(0.7) }
    connection.cut(tell)
    reached.count(tell.server ? 'connection cut' : 'connection cut, the broker not told')
  }
}
