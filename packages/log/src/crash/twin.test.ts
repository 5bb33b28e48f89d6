import { MemoryDisk } from '../memory-disk.js'
import { seededRandom } from '../testing.js'
import { checkAll } from './checker.test.support.js'
import { Reached } from './machine.test.support.js'
import { Model } from './model.test.support.js'
import { PlainGround } from './plain-ground.test.support.js'
import { Life } from './workload.test.support.js'

const FIRST_SEED = Number(process.env.SEED ?? 1)

describe('logs in use and their slow twins', function () {
  this.timeout(120_000)

  it('agree after every step: reads by offset and time, last stable offset, aborted ranges, starts, producers, leader epochs', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 25; seed++) {
      const model = new Model()
      const life = new Life(new PlainGround(new MemoryDisk({ durability: 'ignored' }), model, seededRandom(seed)))
      await life.open()
      for (let step = 0; step < 60; step++) {
        try {
          await life.step()
          await checkAll(life.directories, model, 'process', new Reached())
        } catch (error) {
          throw new Error(`SEED=${seed}, step ${step}: ${(error as Error).message}`, { cause: error })
        }
      }
      await life.close()
    }
  })
})
