/**
 * A machine that may lose its power, or the process, at any operation: what would come up then is taken aside and the work goes on, so
 * that one run of a workload shows every point at which it could have been stopped. Syncs end when the seed says so.
 */
import { setImmediate } from 'node:timers/promises'
import type { DiskOperation, MemoryDisk } from '../memory-disk.js'
import type { Random } from '../ports.js'
import type { Model } from './model.test.support.js'
import type { Ground } from './workload.test.support.js'

/** A process that is killed leaves everything that was written; a machine without power what was synced and any part of the rest. */
export type Cut = 'process' | 'power'

export interface Crash {
  readonly disk: MemoryDisk
  readonly model: Model
  readonly cut: Cut
  /** The operation before which it stopped. */
  readonly at: string
}

/** Whether a sync is left out, though the disk says that it was done. */
export type Lie = (operation: DiskOperation) => boolean

/** What was reached, and how often: a run that never saw a fault shows nothing of it. */
export class Reached {
  readonly counts = new Map<string, number>()

  note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }
}

const CHANGING: ReadonlySet<DiskOperation['kind']> = new Set([
  'write',
  'truncate',
  'sync',
  'rename',
  'remove',
  'mkdir',
  'syncDirectory',
])

/** So many turns an operation may go on without the disk: a cleaning gives its turn away before each piece that it reads. */
const LONGEST_THOUGHT = 100

export class Machine implements Ground {
  readonly crashes: Crash[] = []
  /** Operations that change something, so far. */
  changes = 0
  /** By the number of the change: whether the machine might stop there. */
  stopsAt: (change: number) => boolean = () => false
  /** The change at which a sync was left out last. */
  liedAt = Number.NEGATIVE_INFINITY
  #waiting: (() => void)[] = []

  constructor(
    readonly disk: MemoryDisk,
    readonly model: Model,
    readonly random: Random,
    readonly reached: Reached,
    /** With it, it is always the power that is cut: a killed process needs no sync. */
    readonly lie?: Lie,
  ) {
    disk.faults = (operation) => this.#asked(operation)
    disk.delays = (operation) => this.#delayed(operation)
  }

  /** Lets on what waits for the end of a turn. */
  endTurn: () => void = () => {}

  #asked(operation: DiskOperation): { take: number } | undefined {
    const { kind, path, sizeInBytes } = operation
    if (!CHANGING.has(kind)) return undefined
    const change = this.changes++
    if (this.stopsAt(change)) this.crashes.push(this.crashNow(`${kind} ${path}, change ${change}`))
    if (this.lie?.(operation) === true) {
      this.liedAt = change
      return { take: 0 }
    }
    // Short writes: a process may be killed between the parts.
    if (kind === 'write' && sizeInBytes > 1 && this.random.next() < 0.1) return { take: this.#whole(1, sizeInBytes - 1) }
    return undefined
  }

  #delayed({ kind }: DiskOperation): Promise<void> | undefined {
    if (kind === 'read' || this.random.next() < 0.3) return undefined
    return new Promise((go) => {
      this.#waiting.push(go)
    })
  }

  #whole(from: number, to: number): number {
    return from + Math.floor(this.random.next() * (to - from + 1))
  }

  /** What would come up if it stopped now. */
  crashNow(at: string): Crash {
    const cut = this.lie === undefined && this.random.next() < 0.25 ? 'process' : 'power'
    return { disk: cut === 'process' ? this.#withAll() : this.#withoutSome(), model: this.model.clone(), cut, at }
  }

  #withAll(): MemoryDisk {
    return this.disk.afterCrash(
      ({ sizeInBytes }) => sizeInBytes,
      () => true,
    )
  }

  /** Of writes any part may be lost, in any order; names are lost from some point on in each folder, as a journal keeps their order. */
  #withoutSome(): MemoryDisk {
    const { random, reached } = this
    const losing = [0.2, 0.5, 1][this.#whole(0, 2)]!
    const losingNames = [0, 0.15, 0.4, 1][this.#whole(0, 3)]!
    let anyLost = false
    const keep = ({ sizeInBytes }: { readonly sizeInBytes: number }) => {
      if (random.next() >= losing) {
        if (anyLost) reached.note('a write lives that came after a lost one')
        return sizeInBytes
      }
      anyLost = true
      const dice = random.next()
      if (sizeInBytes > 1 && dice < 0.3) {
        reached.note('a write is torn at its end')
        return this.#whole(1, sizeInBytes - 1)
      }
      if (sizeInBytes > 1 && dice < 0.4) {
        reached.note('a write is torn at its front')
        return { from: this.#whole(1, sizeInBytes - 1), to: sizeInBytes }
      }
      reached.note('a write is lost')
      return 0
    }
    const stopped = new Set<string>()
    const keepName = ({ folder, what }: { readonly folder: string; readonly what: string }) => {
      if (!stopped.has(folder) && random.next() >= losingNames) return true
      stopped.add(folder)
      reached.note(`lost: ${kindOf(what)}`)
      return false
    }
    return this.disk.afterCrash(keep, keepName)
  }

  /** Lets one of the waiting operations happen. @returns whether there was one */
  #letOneGo(): boolean {
    const at = this.#whole(0, this.#waiting.length - 1)
    const [go] = this.#waiting.splice(at, 1)
    go?.()
    return go !== undefined
  }

  /** Waits for an operation of the log; what it waits for happens as late as it can. */
  async until<R>(operation: R | Promise<R>): Promise<R> {
    if (!(operation instanceof Promise)) return operation
    let isDone = false
    const done = () => {
      isDone = true
    }
    operation.then(done, done)
    for (let idle = 0; idle < LONGEST_THOUGHT; ) {
      await setImmediate()
      if (isDone) return operation
      this.endTurn()
      idle = this.#letOneGo() ? 0 : idle + 1
    }
    throw new Error('an operation never ends')
  }

  /** Lets everything that is under way end. */
  readonly settle = async (): Promise<void> => {
    for (let idle = 0; idle < 3; ) {
      await setImmediate()
      this.endTurn()
      idle = this.#letOneGo() ? 0 : idle + 1
    }
  }

  /** Lets some of what is under way go on. */
  async someTime(): Promise<void> {
    if (this.random.next() < 0.5) return
    this.#letOneGo()
    await setImmediate()
  }
}

/** A change of a name without the numbers in it. */
const kindOf = (what: string): string =>
  what
    .replace(/\d{20}/g, 'N')
    .replace(/\S*-\d+(\.[0-9a-f]+)?(?=[ -]|$)/g, 'P$1')
    .replace(/\.[0-9a-f]{32}/, '.id')
