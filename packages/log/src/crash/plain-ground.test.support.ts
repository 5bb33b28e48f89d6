/** A disk that does what it is told, at once: so the same seed does the same work on every disk, whatever its speed. */
import { setImmediate } from 'node:timers/promises'
import type { Disk, Random } from '../ports.js'
import type { Model } from './model.test.support.js'
import type { Ground } from './workload.test.support.js'

export class PlainGround implements Ground {
  changes = 0
  endTurn = (): void => {}
  readonly settle = null

  constructor(
    readonly disk: Disk,
    readonly model: Model,
    readonly random: Random,
  ) {}

  async until<R>(operation: R | Promise<R>): Promise<R> {
    this.changes++
    let isDone = false
    const done = () => {
      isDone = true
    }
    void Promise.resolve(operation).then(done, done)
    while (!isDone) {
      await setImmediate()
      this.endTurn()
    }
    return operation
  }

  async someTime(): Promise<void> {}
}
