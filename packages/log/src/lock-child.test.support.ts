/**
 * A process that wants directories: the other half of directory-lock.test.ts. Each line on stdin is a folder and the time at which to reach
 * for it; it says who has it then, or that it got it. `free FOLDER` lets it go.
 */
import { createInterface } from 'node:readline'
import { lockDirectory, unlockDirectory } from './directory-lock.js'
import { nodeDisk } from './disk-node.js'
import { nodeEnvironment } from './node-environment.js'

createInterface({ input: process.stdin }).on('line', async (line) => {
  const [word = '', more = ''] = line.split(' ')
  if (word === 'free') {
    unlockDirectory(nodeDisk, more)
    process.stdout.write('free\n')
    return
  }
  // Who does nothing else is nearest to the instant.
  while (Date.now() < Number(more));
  const holder = await lockDirectory(nodeEnvironment, word)
  process.stdout.write(`${holder ?? 'got it'}\n`)
})
