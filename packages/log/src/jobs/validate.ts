/** Checks a client's records beside the loop: a large compressed batch is decompressed, walked, and where the topic says so rebuilt. */
import type { Refused } from '../outcomes.js'
import { type Validated, type ValidateOptions, validate } from '../validate.js'
import type { Job } from './job.js'

export interface ValidateInput {
  readonly records: Uint8Array
  /** With any first offset: it lies outside the checksum, and whoever appends the batch sets it. */
  readonly options: ValidateOptions
}

/** As `validate` answers, but for the batch, which is bytes here. */
export type ValidateOutput = Refused | (Omit<Validated, 'batch'> & { readonly bytes: Uint8Array })

export const validateJob: Job<ValidateInput, ValidateOutput, never> = async ({ records, options }) => {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength)
  const outcome = validate(bytes, options)
  if (outcome.kind === 'refused') return outcome
  const { batch, ...validated } = outcome
  return { ...validated, bytes: batch.slice() }
}
