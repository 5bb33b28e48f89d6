import assert from 'node:assert/strict'
import { Breather } from './breather.js'
import { ManualTime, ManualTurn } from './testing.js'

describe('a breather', () => {
  it('lets others in after five milliseconds, and then not again before as many', async () => {
    const clock = new ManualTime()
    const turn = new ManualTurn()
    const breather = new Breather({ clock, turn })
    clock.advance(4)
    await breather.breathe()
    clock.advance(1)
    let isOn = false
    const breath = breather.breathe().then(() => {
      isOn = true
    })
    await Promise.resolve()
    assert.equal(isOn, false)
    turn.end()
    await breath
    clock.advance(4)
    await breather.breathe()
  })

  it('lets nobody in where there are no turns', async () => {
    const clock = new ManualTime()
    const breather = new Breather({ clock })
    clock.advance(1000)
    await breather.breathe()
  })
})
