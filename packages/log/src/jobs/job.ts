/** What a job is: a piece of long work that runs beside the event loop, or on it where there are no workers. */
import type { Disk, Time } from '../ports.js'

/**
 * Who waits for it. A client's request waits for `request` jobs, which take less than a second; `background` jobs may take minutes.
 * Each lane has its own two places, so that no request waits for a cleaning to end.
 */
export type Lane = 'request' | 'background'

/** Time is that of whoever asked for the job: in a worker that of this machine. */
export interface JobContext<Progress> extends Time {
  /** The disk of whoever asked for the job: in a worker the file system of this machine. */
  readonly disk: Disk
  /** Whether nobody waits for the result any more: the job ends soon, whatever it then answers. */
  isCancelled(): boolean
  progress(done: Progress): void
}

/**
 * Input, output and progress are plain data that a structured clone keeps: numbers, texts, arrays, objects. Bulk goes in Uint8Arrays:
 * those of the input are copied once, those of the output change hands. A job opens what it needs itself, closes it, and holds no
 * state between runs. What it throws arrives as it is thrown, its class too if that is one of `crossing.ts`.
 */
export type Job<Input, Output, Progress> = (input: Input, context: JobContext<Progress>) => Promise<Output>

export interface JobRow<Input, Output, Progress> {
  readonly lane: Lane
  readonly run: Job<Input, Output, Progress>
}

/** Any table of jobs. */
export type JobTable = { readonly [name: string]: JobRow<never, unknown, unknown> }

/** Input, output and progress of each job of a table. */
export type JobsOf<Table extends JobTable> = {
  readonly [Name in keyof Table]: Table[Name] extends JobRow<infer Input, infer Output, infer Progress>
    ? { readonly input: Input; readonly output: Output; readonly progress: Progress }
    : never
}
