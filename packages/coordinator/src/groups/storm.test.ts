import assert from 'node:assert/strict'
import { SeededRandom, settled } from '../testing.js'
import { World } from './simulated-members.test.support.js'

const MEMBERS = 200
const SECONDS = 30

describe('a storm of rebalances (F49)', () => {
  it('of two hundred members that join and leave ten times a second leaves a whole group and no trace', async function () {
    this.timeout(60_000)
    const world = new World(MEMBERS, 500)
    await world.begin()
    const random = new SeededRandom(Number(process.env.SEED ?? 1))
    for (let tick = 0; tick < SECONDS * 10; tick++) {
      for (const client of world.clients) {
        // A client that waits for an answer gives up now and then, as if its connection broke.
        if (client.open > 0 && random.next() < 0.98) continue
        const dice = random.next()
        if (dice < 0.1) client.leave()
        else if (dice < 0.15) client.reset()
        else client.behave()
      }
      await world.time.advance(100)
    }
    const generation = world.generation
    await world.calm(30)
    world.assertWhole()
    assert.ok(world.generation > generation)
    // One session timer for each member, one that looks for expired offsets, and perhaps one that waits for the last to sync.
    assert.ok(world.time.timerCount <= MEMBERS + 2, `${world.time.timerCount} timers are left`)
    world.groups.close()
    await settled()
    assert.equal(world.time.timerCount, 0)
    for (const { open } of world.clients) assert.equal(open, 0)
  })
})
