/** What decompressing may fail with. */
import { RecordsError } from '../records/errors.js'

/** `INVALID_RECORD` for damaged data and for output beyond the limit, `UNSUPPORTED_COMPRESSION_TYPE` for an unknown codec. */
export class CompressionError extends RecordsError {
  override readonly name = 'CompressionError'
}

/** The data gives more than it may; whether it is sound is not known. */
export class OverLimitError extends CompressionError {
  constructor(codec: string, maxOutputBytes: number) {
    super('INVALID_RECORD', `${codec}: decompresses to more than ${maxOutputBytes} bytes`)
  }
}

export const damaged = (codec: string, what: string): CompressionError =>
  new CompressionError('INVALID_RECORD', `${codec}: ${what}`)

export const overLimit = (codec: string, maxOutputBytes: number): OverLimitError => new OverLimitError(codec, maxOutputBytes)
