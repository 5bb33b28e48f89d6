/** The jobs that there are: one line each. */

import { cleanJob } from './clean.js'
import { downConvertJob } from './down-convert.js'
import type { JobsOf } from './job.js'
import { recoverJob } from './recover.js'
import { reindexJob } from './reindex.js'
import { replayJob } from './replay.js'
import { validateJob } from './validate.js'

export const JOBS = {
  /** A segment scanned after an unclean stop. */
  recover: { lane: 'background', run: recoverJob },
  /** The indexes of a segment whose files are missing or damaged. */
  reindex: { lane: 'background', run: reindexJob },
  /** The producers' state from a snapshot on. */
  replay: { lane: 'background', run: replayJob },
  /** Much of what an old client fetches. */
  downConvert: { lane: 'request', run: downConvertJob },
  /** A client's large compressed batch, checked. */
  validate: { lane: 'request', run: validateJob },
  /** A log, compacted. */
  clean: { lane: 'background', run: cleanJob },
} as const

/** Input, output and progress by the job's name. */
export type Jobs = JobsOf<typeof JOBS>
