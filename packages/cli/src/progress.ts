/** A progress bar on the error stream for long work; silent where nobody watches. */

import { Presets, SingleBar } from 'cli-progress'
import type { Terminal } from './terminal.js'

export interface Progress {
  at(done: number): void
  end(): void
}

/** For work that tells how much it did since the last time. */
export interface StepProgress {
  readonly moved: (bytes: number) => void
  end(): void
}

/** Work of fewer bytes is over before a bar could be read. */
const WORTH_SHOWING_BYTES = 16 * 1024 * 1024

const SILENT: Progress = { at: () => {}, end: () => {} }

export function progressOf(terminal: Terminal, what: string, total: number): Progress {
  if (terminal.progress === null || total < WORTH_SHOWING_BYTES) return SILENT
  const bar = new SingleBar(
    { format: `${what} {bar} {percentage}% {eta_formatted}`, stream: terminal.progress, clearOnComplete: true },
    Presets.shades_classic,
  )
  bar.start(total, 0)
  return { at: (done) => bar.update(done), end: () => bar.stop() }
}

/** For what prints a lot: a bar between the lines would only disturb, so there is one only when these go somewhere else. */
export function dumpProgress(terminal: Terminal, what: string, total: number): StepProgress {
  const bar = terminal.isOutputWatched ? SILENT : progressOf(terminal, what, total)
  let done = 0
  return {
    moved: (bytes) => {
      done += bytes
      bar.at(done)
    },
    end: () => bar.end(),
  }
}
