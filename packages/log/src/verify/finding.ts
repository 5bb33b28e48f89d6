/** What a verification finds, and where it tells it. */

export interface Finding {
  /** `problem`: something is not as it must be. `note`: it is worth knowing, and sound. */
  readonly level: 'problem' | 'note'
  /** Relative to what is verified. */
  readonly file: string
  /** Byte in the file where it shows, where that can be said. */
  readonly position?: number
  /** Record offset that it is about, where there is one. */
  readonly offset?: number
  readonly problem: string
  /** What a start of the broker does about it. */
  readonly atStart: string
}

export type Report = (finding: Finding) => void

/** How much was looked at. */
export interface Verified {
  readonly partitions: number
  readonly segments: number
  readonly batches: number
  readonly sizeInBytes: number
  readonly problems: number
  readonly notes: number
}

/** What a start does about something, as the texts say it. */
export const AT_START = {
  nothing: 'nothing',
  /** Of data that a start does not scan. */
  notSeen: 'nothing: a start does not scan it, and whoever reads it gets CORRUPT_MESSAGE',
  rebuilds: 'scans the segment and builds its indexes again',
  rebuildsWhenUsed: 'nothing; the index is built again when it is first used',
  removes: 'removes it',
} as const
