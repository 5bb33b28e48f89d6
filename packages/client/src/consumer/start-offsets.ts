/** Where reading begins: a pending seek, what the group has stored, where this member stood before, or the reset; and what follows an offset out of range. */

import type { Cluster } from '../cluster.js'
import type { Logger } from '../logger.js'
import type { Timers } from '../ports.js'
import { pause } from '../retry.js'
import { EARLIEST, LATEST } from './arguments.js'
import type { Membership } from './membership.js'
import type { Positions } from './positions.js'

export interface StartOffsetsOptions {
  readonly cluster: Cluster
  readonly membership: Membership
  readonly positions: Positions
  readonly timers: Timers
  readonly logger: Logger
  readonly readUncommitted: boolean
  /** Aborted when the consumer is to stop. */
  readonly stopping: AbortSignal
  /** Does the subscription of the topic start at its beginning where the group has no offset? */
  fromBeginning(topic: string): boolean
}

interface LookUp {
  readonly topic: string
  readonly partition: number
  readonly timestamp: number
}

/** A leader that lags is asked again after this pause, in ms. */
const LAGGING_LEADER_PAUSE_MS = 300

export class StartOffsets {
  readonly #options: StartOffsetsOptions

  constructor(options: StartOffsetsOptions) {
    this.#options = options
  }

  /** Gives every partition without one a place to start. */
  async find(): Promise<void> {
    const { membership, positions, stopping } = this.#options
    const open = positions.all().filter(({ nextOffset }) => nextOffset === undefined)
    const rest = open.filter(({ topic, partition }) => {
      const sought = positions.pendingSeek(topic, partition)
      if (sought === undefined || sought < 0) return true
      positions.startAt(topic, partition, sought, undefined)
      return false
    })
    if (rest.length === 0) return
    const byName: { [topic: string]: number[] } = Object.create(null)
    for (const { topic, partition } of rest) {
      byName[topic] ??= []
      byName[topic].push(partition)
    }
    const lookUps: LookUp[] = []
    for (const { topic, partition, offset } of await membership.committed(byName, stopping)) {
      const sought = positions.pendingSeek(topic, partition)
      const before = positions.leftAt(topic, partition)
      if (sought !== undefined) lookUps.push({ topic, partition, timestamp: sought })
      else if (offset >= 0) positions.startAt(topic, partition, offset, offset)
      // Nothing is stored, but this member has been reading: a reset to the end would skip what it had not finished.
      else if (before !== undefined) positions.continueAt(topic, partition, before)
      else lookUps.push({ topic, partition, timestamp: this.#resetTo(topic) })
    }
    await this.#lookUp(lookUps)
  }

  async #lookUp(wanted: LookUp[]): Promise<void> {
    if (wanted.length === 0) return
    const { cluster, positions, readUncommitted, stopping } = this.#options
    const ask = async () => {
      await cluster.refreshMetadataIfNecessary()
      return cluster.listOffsets(wanted, { isolationLevel: readUncommitted ? 0 : 1 })
    }
    const found = await cluster.retrying(ask, { until: [stopping] })
    for (const { topic, partition, offset } of found) {
      const sought = positions.pendingSeek(topic, partition)
      // A newer seek, made while the look-up travelled, is left to its own look-up.
      if (sought !== undefined && sought >= 0) positions.startAt(topic, partition, sought, undefined)
      else {
        if (sought !== undefined) positions.resolvePendingSeek(topic, partition, offset)
        positions.startAt(topic, partition, offset, undefined)
      }
    }
  }

  /**
   * Resets only if the offset really lies outside what the leader has: a new leader whose high watermark lags says out of range
   * of offsets that exist, and is asked again for the same one.
   */
  async outOfRange(topic: string, partition: number, offset: number): Promise<void> {
    const { cluster, logger, positions, timers, stopping } = this.#options
    positions.forget(topic, partition)
    const at = (timestamp: number) => cluster.listOffsets([{ topic, partition, timestamp }])
    const [[first], [end]] = await cluster.retrying(() => Promise.all([at(EARLIEST), at(LATEST)]), { until: [stopping] })
    const inside = offset >= first!.offset && offset <= end!.offset
    const next = inside ? offset : this.#resetTo(topic) === EARLIEST ? first!.offset : end!.offset
    const place = { topic, partition, offset, next }
    if (inside) {
      logger.warn('The leader lags: the offset exists, asking again', place)
      await pause(timers, LAGGING_LEADER_PAUSE_MS, [stopping])
    } else logger.warn('Offset out of range, resetting', place)
    if (positions.get(topic, partition)?.nextOffset === undefined) positions.startAt(topic, partition, next, undefined)
  }

  #resetTo(topic: string): number {
    return this.#options.fromBeginning(topic) ? EARLIEST : LATEST
  }
}
