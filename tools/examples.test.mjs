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
  'log-append-read.mjs': [
    /^appended up to offset 1001, the last batch from 1000 on$/m,
    /^998 sensor-2: 24 °C$/m,
    /^the first record from noon on has offset 720$/m,
    /^opened again: offsets 0 to 1001, nothing was cut: true$/m,
  ],
  'log-follow.mjs': [/^read 0: the first\nread 1: the second\nread 2: the last\nstopped at offset 3$/m],
  'log-read-only.mjs': [
    /^in use: true$/m,
    /^orders-0: offsets 0 to 2, 0 damaged$/m,
    /^ {2}0 a: a book\n {2}1 null: a chair$/m,
    /^0 problems$/m,
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
