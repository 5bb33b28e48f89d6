// Types of the vectors' loader: see README.md, "Reading them".

/** The given vectors, packed or unpacked. Paths begin with the group: `messages/3.9.1/Produce.jsonl`. Everything is synchronous. */
export interface Vectors {
  /** The groups that are there: messages, records, misc, datadirs, znodes, interbroker, golden, configs. */
  groups(): string[]
  /** All paths below `prefix` (a group or a folder in it), sorted. */
  files(prefix: string): string[]
  /** A file's bytes: shared between callers, not to be written to. */
  bytes(path: string): Buffer
  text(path: string): string
  /** A whole JSON file. The caller names its shape. */
  json<Shape>(path: string): Shape
  /** A file of JSON lines. */
  lines<Shape>(path: string): Shape[]
  /** Names of the data directories, for `extractDatadir`: `main/clean`, `main/sigkill`, `old-formats/clean` … */
  datadirs(): string[]
  /** Unpacks one data directory (a new temporary folder unless `into` is given), file times kept; `logs` is the broker's log directory. */
  extractDatadir(variant: string, into?: string): { logs: string; folder: string; remove(): void }
}

/** What is packed in this folder. */
export const vectors: Vectors

/** A folder laid out like this one, packed or unpacked; throws when it holds no group. */
export function openVectors(folder: string): Vectors

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

/** What a consumer gets of a partition, summed up as README.md says. */
export function summary(
  records: readonly {
    readonly offset: number
    readonly timestamp: number
    readonly key: Uint8Array | null
    readonly value: Uint8Array | null
    readonly headers: readonly { readonly key: string; readonly value: Uint8Array | null }[]
  }[],
): RecordsSummary
