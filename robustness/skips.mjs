// What this machine lacks is named and counted by the test command ("skipped: …"), and is not passed over in silence.
import { Missing } from '../tools/toolchain/cache.mjs'

/** `it`, for what needs more than Node: a `Missing` peer prints the line that the test command counts. */
export function itOrSkips(title, run) {
  it(title, async function () {
    try {
      await run.call(this)
    } catch (error) {
      if (!(error instanceof Missing)) throw error
      console.log(`skipped: ${this.test.fullTitle()}: ${error.message}`)
      this.skip()
    }
  })
}
