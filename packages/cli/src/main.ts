/** The binary `mq`. The only file that touches the process. */

import { linesOf } from './lines.js'
import { run } from './program.js'
import type { Terminal } from './terminal.js'

const { version } = require('../package.json') as { version: string }

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop)
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop)
  })
}

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  lines: () => linesOf(process.stdin.setEncoding('utf8')),
  interrupted,
  progress: process.stderr.isTTY === true ? process.stderr : null,
  isOutputWatched: process.stdout.isTTY === true,
}

// A reader that went away (`mq consume t | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

void run(process.argv.slice(2), terminal, version).then((code) => {
  process.exitCode = code
})
