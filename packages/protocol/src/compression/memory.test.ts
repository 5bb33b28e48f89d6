/** What a bomb costs, measured: the peak of a process of its own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bombs } from './bombs.test.support.js'
import { type CodecName, MAX_DECOMPRESSED_BYTES, type Way } from './index.js'
import { ZSTD } from './zstd.js'

const PROGRAM = `
const { decompress, useCodecs } = require(process.argv[1])
const [codec, way] = process.argv.slice(2)
const bomb = require('node:fs').readFileSync(0)
useCodecs(way)
try { decompress(codec, Buffer.from('something short')) } catch {}
const before = process.resourceUsage().maxRSS
let error = 'none'
try { decompress(codec, bomb) } catch (thrown) { error = thrown.error ?? String(thrown) }
console.log(JSON.stringify({ error, grownBytes: (process.resourceUsage().maxRSS - before) * 1024 }))
`
/** Room for the collector, the code that is loaded at the first use, and the pieces at hand. */
const SLACK_BYTES = 24 * 1024 * 1024

/** gzip has one way, and zstd where Node has none. */
function waysOf(codec: CodecName): Way[] {
  return codec === 'gzip' || (codec === 'zstd' && ZSTD.native === undefined) ? ['portable'] : ['native', 'portable']
}

describe('a bomb costs no more than the limit', () => {
  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd'] satisfies CodecName[]) {
    for (const [name, bomb] of bombs(codec)) {
      for (const way of waysOf(codec)) {
        it(`${codec}, ${name} (${way})`, () => {
          const run = spawnSync(process.execPath, ['-e', PROGRAM, join(__dirname, 'index.js'), codec, way], {
            input: bomb,
            encoding: 'utf8',
          })
          assert.equal(run.status, 0, run.stderr)
          const { error, grownBytes } = JSON.parse(run.stdout) as { error: string; grownBytes: number }
          assert.equal(error, 'INVALID_RECORD')
          assert.ok(grownBytes < MAX_DECOMPRESSED_BYTES + SLACK_BYTES, `${Math.round(grownBytes / 1024 / 1024)} MiB`)
        }).timeout(20_000)
      }
    }
  }
})
