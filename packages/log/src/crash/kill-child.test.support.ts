/**
 * A process that works on logs until it is killed: the other half of kill.test.ts. Says on stdout which step it begins.
 * Arguments: the log directory, the seed.
 */
import { writeSync } from 'node:fs'
import { nodeDisk } from '../disk-node.js'
import { seededRandom } from '../testing.js'
import { Model } from './model.test.support.js'
import { PlainGround } from './plain-ground.test.support.js'
import { Life } from './workload.test.support.js'

async function main(): Promise<void> {
  const [folder, seed] = process.argv.slice(2)
  const life = new Life(new PlainGround(nodeDisk, new Model(), seededRandom(Number(seed))), folder)
  await life.open()
  for (let step = 0; ; step++) {
    writeSync(1, `${step}\n`)
    await life.step()
  }
}

if (require.main === module) void main()
