// Runs every program in examples/ as its reader would, against a broker in this process.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const { startBroker } = createRequire(import.meta.url)('@mq/broker')
const FOLDER = join(resolve(fileURLToPath(import.meta.url), '..', '..'), 'examples')
const LIMIT_MS = 30_000

/** What each prints when it worked. */
const PRINTS = {
  'quick-start.mjs': [
    /^created the topic quick-start$/m,
    /^sent to partition [01] from offset 0$/m,
    /^[01]\/0 alice: first$/m,
    /^[01]\/1 alice: second$/m,
  ],
  'in-process-broker.mjs': [/an order of a book gets a receipt/, /an order of a chair gets a receipt/, /^# fail 0$/m],
}

describe('examples', () => {
  let broker
  before(async () => {
    broker = await startBroker()
  })
  after(() => broker.close())

  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.mjs')))
    it(`${file} does what it says`, async () => {
      assert.ok(PRINTS[file], `${file}: what it prints is not known here`)
      const args = file.startsWith('in-process') ? ['--test-reporter=tap', file] : [file]
      const env = { ...process.env, MQ_BROKER: broker.bootstrap }
      delete env.NODE_TEST_CONTEXT
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: FOLDER, timeout: LIMIT_MS, env })
      for (const expected of PRINTS[file]) assert.match(stdout, expected)
      assert.equal(stderr, '')
    }).timeout(LIMIT_MS + 5_000)
})
