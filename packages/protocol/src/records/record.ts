/** One record as readers see it: places in the batch's bytes, turned into views only when asked for. */

export interface RecordHeader {
  readonly key: string
  readonly value: Buffer | null
}

/** What every record offers, whatever the format it came from. Each reading of `key`, `value` and `headers` makes a new view. */
export interface Record {
  readonly offset: number
  /** Milliseconds since 1970, -1 if it has none; the nearest number where it is beyond ±(2^53−1). */
  readonly timestamp: number
  /** -1 without an idempotent producer. */
  readonly sequence: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly RecordHeader[]
  /** Bytes of the record in its (decompressed) batch, its length field included. */
  readonly sizeInBytes: number
}

/** A record of magic 2. Key, value and headers are views into the batch's bytes and live as long as these. */
export class RecordView implements Record {
  constructor(
    private readonly bytes: Buffer,
    readonly offset: number,
    readonly timestamp: number,
    /** The timestamp, a bigint where a number would not be exact. */
    readonly exactTimestamp: number | bigint,
    readonly sequence: number,
    readonly sizeInBytes: number,
    private readonly keyAt: number,
    private readonly keyLength: number,
    private readonly valueAt: number,
    private readonly valueLength: number,
    private readonly headersAt: number,
    readonly headerCount: number,
  ) {}

  get key(): Buffer | null {
    return this.keyLength < 0 ? null : this.bytes.subarray(this.keyAt, this.keyAt + this.keyLength)
  }

  get value(): Buffer | null {
    return this.valueLength < 0 ? null : this.bytes.subarray(this.valueAt, this.valueAt + this.valueLength)
  }

  get headers(): readonly RecordHeader[] {
    return this.headerCount === 0 ? NO_HEADERS : readHeaders(this.bytes, this.headersAt, this.headerCount)
  }

  /** What `console.log` shows: the record, not the places it is read from. */
  [Symbol.for('nodejs.util.inspect.custom')](): Record {
    const { offset, timestamp, sequence, key, value, headers, sizeInBytes } = this
    return { offset, timestamp, sequence, key, value, headers, sizeInBytes }
  }
}

const NO_HEADERS: readonly RecordHeader[] = Object.freeze([])

/** The cursor has walked these bytes before: lengths are known to be sound. */
export function readHeaders(bytes: Buffer, start: number, count: number): RecordHeader[] {
  const headers: RecordHeader[] = []
  let at = start
  const length = (): number => {
    let raw = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      raw |= (byte & 0x7f) << shift
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1)
    }
  }
  for (let i = 0; i < count; i++) {
    const keyLength = length()
    const key = bytes.toString('utf8', at, at + keyLength)
    at += keyLength
    const valueLength = length()
    const value = valueLength < 0 ? null : bytes.subarray(at, at + valueLength)
    if (valueLength > 0) at += valueLength
    headers.push({ key, value })
  }
  return headers
}
