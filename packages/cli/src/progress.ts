/** A progress bar on the error stream for long work; silent where nobody watches. */

import { Presets, SingleBar } from 'cli-progress'
import type { Terminal } from './terminal.js'

export interface Progress {
  at(done: number): void
  end(): void
}

/** Work of fewer bytes is over before a bar could be read. */
const WORTH_SHOWING_BYTES = 16 * 1024 * 1024

export function progressOf(terminal: Terminal, what: string, total: number): Progress {
  if (terminal.progress === null || total < WORTH_SHOWING_BYTES) return { at: () => {}, end: () => {} }
  const bar = new SingleBar(
    { format: `${what} {bar} {percentage}% {eta_formatted}`, stream: terminal.progress, clearOnComplete: true },
    Presets.shades_classic,
  )
  bar.start(total, 0)
  return { at: (done) => bar.update(done), end: () => bar.stop() }
}
