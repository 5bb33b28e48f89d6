/** Tells how far the recovery of a directory is: when a long one begins, then every few seconds, and when it has ended. */
import { segmentFile } from './folder-names.js'
import type { Clock, Disk, Logger } from './ports.js'

/** More than that takes long enough to be announced. */
const LONG_BYTES = 256 << 20
const TOLD_EVERY_MS = 3000

export interface Recovering {
  readonly directory: string
  /** To be scanned, in all its logs. */
  readonly bytes: number
  readonly logs: number
}

export class RecoveryProgress {
  readonly #what: Recovering
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #begunAt: number
  #toldAt: number
  #wasTold = false
  #bytes = 0

  constructor(what: Recovering, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#what = what
    this.#clock = clock
    this.#logger = logger
    this.#begunAt = clock.monotonic()
    this.#toldAt = this.#begunAt
    if (what.bytes > LONG_BYTES) this.#tell('recovering after a stop that was not clean')
  }

  /** So many bytes more were scanned. */
  scanned(bytes: number): void {
    this.#bytes += bytes
    const now = this.#clock.monotonic()
    if (now - this.#toldAt < TOLD_EVERY_MS) return
    this.#toldAt = now
    this.#tell('recovering')
  }

  ended(): void {
    if (this.#wasTold) this.#tell('recovered', { ms: Math.round(this.#clock.monotonic() - this.#begunAt) })
  }

  #tell(event: string, more: object = {}): void {
    this.#wasTold = true
    const { directory, logs } = this.#what
    // Damage may make more of it be scanned than was foreseen.
    const ofBytes = Math.max(this.#what.bytes, this.#bytes)
    const percent = ofBytes === 0 ? 100 : Math.floor((100 * this.#bytes) / ofBytes)
    this.#logger.info({ directory, logs, bytes: this.#bytes, ofBytes, percent, ...more }, `${event}: ${percent} %`)
  }
}

/** Bytes of a partition's data files that a recovery from this point scans. */
export function unflushedBytes(disk: Disk, folder: string, recoveryPoint: number): number {
  const bases = disk
    .listNow(folder)
    .filter(({ kind }) => kind === 'file')
    .flatMap(({ name }) => {
      const file = segmentFile(name)
      return file?.kind === 'log' && file.suffix === '' ? [{ name, baseOffset: file.baseOffset }] : []
    })
  const floor = bases.findLast(({ baseOffset }) => baseOffset <= recoveryPoint)?.baseOffset ?? 0
  return bases
    .filter(({ baseOffset }) => baseOffset >= floor)
    .reduce((sum, { name }) => sum + (disk.statNow(`${folder}/${name}`)?.sizeInBytes ?? 0), 0)
}
