/** What reading record batches may fail with: an error of Kafka's table and the place in the bytes. */

export type RecordsErrorName = 'CORRUPT_MESSAGE' | 'INVALID_RECORD' | 'UNSUPPORTED_COMPRESSION_TYPE'

export class RecordsError extends Error {
  override readonly name: string = 'RecordsError'
  /**
   * @param error name in the error table
   * @param position index into the bytes that were read (for compressed batches: into the decompressed records), or -1
   */
  constructor(
    readonly error: RecordsErrorName,
    message: string,
    readonly position: number = -1,
  ) {
    super(position < 0 ? message : `${message} (at byte ${position})`)
  }
}

export const corrupt = (message: string, position?: number): RecordsError =>
  new RecordsError('CORRUPT_MESSAGE', message, position)
export const invalid = (message: string, position?: number): RecordsError => new RecordsError('INVALID_RECORD', message, position)
