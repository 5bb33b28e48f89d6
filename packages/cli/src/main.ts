/** The binary `mq`. The only file that touches the process. */

import { createInterface } from 'node:readline'
import { run } from './program.js'
import type { Terminal } from './terminal.js'

const { version } = require('../package.json') as { version: string }

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  lines: () => createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }),
  interrupted: new Promise((resolve) => process.once('SIGINT', () => resolve())),
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
