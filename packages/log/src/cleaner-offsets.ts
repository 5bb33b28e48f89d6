/**
 * Up to where the logs of one directory were cleaned: `cleaner-offset-checkpoint`, in Kafka's format. Never above what was cleaned: a
 * cleaning is written down once its segments are in place and durable, and a truncation before it cuts.
 */
import { posix } from 'node:path'
import { formatTopicPartition, type TopicPartition } from '@mq/protocol'
import { offsetsToText, readOffsets, writeAtomically } from './checkpoint.js'
import type { Disk, Logger } from './ports.js'
import { readIfThere } from './whole-file.js'

export const CLEANER_OFFSETS = 'cleaner-offset-checkpoint'

interface Row {
  readonly partition: TopicPartition
  readonly offset: number
}

export class CleanerOffsets {
  readonly #rows = new Map<string, Row>()
  #written: Promise<void> = Promise.resolve()
  #waiting: Promise<void> | null = null

  constructor(
    readonly disk: Disk,
    readonly directory: string,
    readonly logger: Logger,
  ) {}

  /** Takes from the file what is said of these partitions; a damaged file counts as empty: everything is cleaned again. */
  loadNow(partitions: Iterable<TopicPartition>): void {
    const bytes = readIfThere(this.disk, posix.join(this.directory, CLEANER_OFFSETS))
    if (bytes === null) return
    const read = readOffsets(bytes)
    if ('problem' in read) {
      this.logger.warn({ directory: this.directory }, `${CLEANER_OFFSETS}: ${read.problem}; it counts as empty`)
      return
    }
    for (const partition of partitions) {
      const name = formatTopicPartition(partition)
      const offset = (read as ReadonlyMap<string, number>).get(name)
      if (offset !== undefined) this.#rows.set(name, { partition, offset })
    }
  }

  /** Null for a log that was never cleaned. */
  get(partition: TopicPartition): number | null {
    return this.#rows.get(formatTopicPartition(partition))?.offset ?? null
  }

  /** Resolves when the file says so. @throws DiskError */
  set(partition: TopicPartition, offset: number): Promise<void> {
    this.#rows.set(formatTopicPartition(partition), { partition, offset })
    return this.#write()
  }

  /** The log is cut there: what comes from there on will be new. @throws DiskError */
  async lower(partition: TopicPartition, offset: number): Promise<void> {
    if ((this.get(partition) ?? 0) > offset) await this.set(partition, offset)
  }

  /** The log is deleted. @throws DiskError */
  async forget(partition: TopicPartition): Promise<void> {
    if (this.#rows.delete(formatTopicPartition(partition))) await this.#write()
  }

  /** One write for all that wait while another is under way. */
  #write(): Promise<void> {
    if (this.#waiting === null) {
      const next = this.#written.then(() => {
        this.#waiting = null
        const rows = Array.from(
          this.#rows.values(),
          ({ partition, offset }) => [partition.topic, partition.partition, offset] as const,
        )
        return writeAtomically(this.disk, posix.join(this.directory, CLEANER_OFFSETS), offsetsToText(rows))
      })
      this.#waiting = next
      this.#written = next.catch(() => {})
    }
    return this.#waiting
  }
}
