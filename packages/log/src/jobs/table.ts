/** The jobs that there are: one line each. */

import { cleanJob } from './clean.js'
import type { JobsOf } from './job.js'
import { validateJob } from './validate.js'

export const JOBS = {
  /** A client's large compressed batch, checked. */
  validate: { lane: 'request', run: validateJob },
  /** A log, compacted. */
  clean: { lane: 'background', run: cleanJob },
} as const

/** Input, output and progress by the job's name. */
export type Jobs = JobsOf<typeof JOBS>
