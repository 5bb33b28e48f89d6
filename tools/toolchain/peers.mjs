// Loaded by mocha before the tests that need Kafka's own programs: brings these first, however long that takes on a fresh machine, so that
// no test's time is spent on downloads. Where they cannot be had, the tests are named as skipped.
import { Missing } from './cache.mjs'
import { classPath } from './java.mjs'

const BRING_MS = 15 * 60_000

export const mochaHooks = {
  async beforeAll() {
    this.timeout(BRING_MS)
    try {
      await classPath('kafka-3.9.1')
    } catch (error) {
      if (!(error instanceof Missing)) throw error
      console.log(`skipped: the tests beside Apache Kafka and ZooKeeper: ${error.message}`)
      this.skip()
    }
  },
}
