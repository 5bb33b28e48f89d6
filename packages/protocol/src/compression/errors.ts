/** What decompressing may fail with. */
import { RecordsError } from '../records/errors.js'

/** `INVALID_RECORD` for damaged data and for output beyond the limit, `UNSUPPORTED_COMPRESSION_TYPE` for an unknown codec. */
export class CompressionError extends RecordsError {
  override readonly name = 'CompressionError'
}

export const damaged = (codec: string, what: string): CompressionError =>
  new CompressionError('INVALID_RECORD', `${codec}: ${what}`)

export const overLimit = (codec: string, maxOutputBytes: number): CompressionError =>
  new CompressionError('INVALID_RECORD', `${codec}: decompresses to more than ${maxOutputBytes} bytes`)
