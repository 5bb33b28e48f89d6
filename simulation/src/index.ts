/** The simulator: one broker, its clients, its disk and its network in one process on one seed. */
export { BROKEN_RULES, type BrokenRule } from './chaos.js'
export { type RunOptions, type RunOutcome, simulate } from './run.js'
