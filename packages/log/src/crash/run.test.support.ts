/** Runs a workload, stops it where it is told, and looks at what each stop left. With TRACE=1 a failure tells what that was. */
import { readOffsets } from '../checkpoint.js'
import { MemoryDisk } from '../memory-disk.js'
import type { Random } from '../ports.js'
import { seededRandom } from '../testing.js'
import { checkAll } from './checker.test.support.js'
import { type Crash, type Lie, Machine, type Reached } from './machine.test.support.js'
import { Model } from './model.test.support.js'
import { storyOf } from './story.test.support.js'
import { Life } from './workload.test.support.js'

export interface Run {
  readonly seed: number
  readonly steps: number
  /** Stops by chance before one change in so many; 1 before every one. */
  readonly oneIn: number
  readonly reached: Reached
  readonly lie?: Lie
  /** Where it may be stopped: everywhere (default), or soon after a lie, before the sync is made up for. */
  readonly where?: 'everywhere' | 'after lies'
}

/** How deep a stop is followed by another. */
const DEEPEST = 2

/** @returns at how many points it was stopped */
export async function run({ seed, steps, oneIn, reached, lie, where = 'everywhere' }: Run): Promise<number> {
  const chance = seededRandom(seed ^ 0x5bd1e995)
  const machine = new Machine(new MemoryDisk(), new Model(), seededRandom(seed), reached, lie)
  const mayStop = mayStopOn(machine, where)
  machine.stopsAt = (change) => mayStop(change) && chance.next() * oneIn < 1
  const life = new Life(machine)
  const stops = new Stops(chance, reached, lie, where)
  try {
    await life.open()
    for (let step = 0; step < steps; step++) {
      await life.step()
      await stops.examine(machine.crashes.splice(0), 1)
    }
    await life.restart()
    await stops.examine(machine.crashes.splice(0), 1)
  } catch (error) {
    const { message, cause } = error as Error
    throw new Error(`SEED=${seed}: ${message}`, { cause: cause ?? error })
  }
  return stops.count
}

const mayStopOn = (machine: Machine, where: 'everywhere' | 'after lies') => (change: number) =>
  where === 'everywhere' || change - machine.liedAt < 80

/** What was cleaned lies below the recovery point on the disk: a gap above it can be nothing but a hole. */
function believeRecoveryPoints(disk: MemoryDisk, model: Model): void {
  const path = '/data/recovery-point-offset-checkpoint'
  if (disk.statNow(path) === null) return
  const read = readOffsets(disk.readFileNow(path))
  if ('problem' in read) return
  const points = read as ReadonlyMap<string, number>
  for (const partition of model.partitions.values())
    if (partition.isBeingCleaned) partition.durableEnd = Math.max(partition.durableEnd, points.get(partition.name) ?? 0)
}

class Stops {
  count = 0

  constructor(
    readonly random: Random,
    readonly reached: Reached,
    readonly lie: Lie | undefined,
    readonly where: 'everywhere' | 'after lies',
  ) {}

  async examine(crashes: readonly Crash[], depth: number): Promise<void> {
    for (const crash of crashes) {
      this.count++
      const story = process.env.TRACE === undefined ? '' : `\n${storyOf(crash)}\n`
      try {
        await this.#examineOne(crash, depth)
      } catch (error) {
        const { message, cause } = error as Error
        throw new Error(`${crash.cut} cut before ${crash.at}: ${story}${message}`, { cause: cause ?? error })
      }
    }
  }

  /** Starts again, perhaps stopped while it does so; looks; works on, perhaps stopped again; stops cleanly and starts once more. */
  async #examineOne({ disk, model, cut }: Crash, depth: number): Promise<void> {
    const { random, reached } = this
    reached.note(`${cut} cut`)
    believeRecoveryPoints(disk, model)
    const machine = new Machine(disk, model, random, reached, this.lie)
    const goesOn = depth < DEEPEST
    const inStart = goesOn && random.next() < 0.3 ? Math.floor(random.next() * 40) : -1
    machine.stopsAt = (change) => change === inStart
    const mayStop = mayStopOn(machine, this.where)
    const life = new Life(machine)
    const directories = await life.open()
    const duringStart = machine.crashes.splice(0).map((crash): Crash => ({ ...crash, cut: cut === 'power' ? cut : crash.cut }))
    for (const { model: stopped } of duringStart) {
      reached.note('stopped in a start')
      // An epoch without records is told by the first start after a stop alone, which has the log without it.
      for (const partition of stopped.partitions.values()) partition.durableEpoch = -1
    }
    await checkAll(directories, model, cut, reached)
    if (goesOn) {
      machine.stopsAt = (change) => mayStop(change) && random.next() < 0.03
      for (let step = Math.floor(random.next() * 8); step > 0; step--) await life.step()
      await life.restart()
      await checkAll(life.directories, model, 'process', reached)
      await life.close()
    }
    await this.examine([...duringStart, ...machine.crashes], depth + 1)
  }
}
