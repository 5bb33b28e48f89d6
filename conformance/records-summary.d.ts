// Types of the records' summary: see README.md, the data directories.

/** As it stands in an expected.json, for committed and for all records. */
export interface RecordsSummary {
  readonly records: number
  readonly nullValues: number
  /** -1 without records, as `lastOffset`. */
  readonly firstOffset: number
  readonly lastOffset: number
  /** Over offset, key and value. */
  readonly sha256: string
  /** Over timestamps and headers, too. */
  readonly sha256Full: string
}

export function summary(
  records: readonly {
    readonly offset: number
    readonly timestamp: number
    readonly key: Uint8Array | null
    readonly value: Uint8Array | null
    readonly headers: readonly { readonly key: string; readonly value: Uint8Array | null }[]
  }[],
): RecordsSummary
