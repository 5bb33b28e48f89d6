/** Stored records in the format of an old client, beside the loop. */
import { convert, type DownConverted, type DownConvertInput } from '../down-convert.js'
import type { Job } from './job.js'

export const downConvertJob: Job<DownConvertInput, DownConverted, never> = async (input) => convert(input)
