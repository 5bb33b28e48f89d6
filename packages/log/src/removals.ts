/**
 * Takes files and folders away once their delay is over: one file after another, however many there are, so that the disk and the
 * threads that wait for it stay free for appends. A folder goes file by file, and a close waits for one file only.
 */
import { posix } from 'node:path'
import type { Disk, Timers } from './ports.js'

export interface Removal {
  /** Files and folders; what is not there is fine. */
  readonly paths: readonly string[]
  readonly delayMs: number
  /** The delay is over. */
  readonly begun?: () => void
  readonly failed: (error: unknown) => void
}

export class Removals {
  readonly #waiting: Removal[] = []
  readonly #timers = new Set<() => void>()
  #underWay: Promise<void> = Promise.resolve()
  #isRemoving = false
  #isClosed = false

  constructor(
    readonly disk: Disk,
    readonly timers: Timers,
  ) {}

  /** @returns takes it back, unless its delay is over */
  later(removal: Removal): () => void {
    const cancel = this.timers.after(removal.delayMs, () => {
      this.#timers.delete(takeBack)
      removal.begun?.()
      this.#waiting.push(removal)
      if (!this.#isRemoving) this.#underWay = this.#removeAll()
    })
    const takeBack = () => {
      this.#timers.delete(takeBack)
      cancel()
    }
    this.#timers.add(takeBack)
    return takeBack
  }

  async #removeAll(): Promise<void> {
    this.#isRemoving = true
    for (let next = this.#waiting.shift(); next !== undefined && !this.#isClosed; next = this.#waiting.shift()) {
      try {
        for (const path of next.paths) await this.#remove(path)
      } catch (error) {
        next.failed(error)
      }
    }
    this.#isRemoving = false
  }

  async #remove(path: string): Promise<void> {
    if (this.disk.statNow(path)?.kind === 'directory') {
      for (const { name } of this.disk.listNow(path)) {
        if (this.#isClosed) return
        await this.disk.remove(posix.join(path, name))
      }
    }
    if (!this.#isClosed) await this.disk.remove(path)
  }

  /** What has not gone stays for the next start; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const takeBack of this.#timers) takeBack()
    await this.#underWay
  }
}
