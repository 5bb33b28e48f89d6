// kill -9 in the middle of writing: every record that was acknowledged is there after the restart, with its bytes; from an idempotent producer
// once and in order. RECORDS sets how many in each of the stories; `npm run soak:crash` writes a million.
import assert from 'node:assert/strict'
import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { crashStory, WRITERS } from './crash/kill.mjs'
import { perfStory } from './crash/perf-tools.mjs'
import { itOrSkips } from './skips.mjs'

const RECORDS = Number(process.env.RECORDS ?? 50_000)
const KILLS = [1 / 4, 1 / 2]

describe(`${RECORDS} records of 1 KiB through kill -9`, function () {
  this.timeout(120_000 + RECORDS)

  for (const writer of Object.keys(WRITERS)) {
    itOrSkips(`by ${writer}: every acknowledged one is there with its bytes`, async () => {
      const { records, missing, changed, acknowledged, failed, errors, restartMs, code, repeated } = await crashStory({
        writer,
        count: RECORDS,
        idempotent: false,
        kills: KILLS,
      })
      console.log(
        `      ${acknowledged} acknowledged, ${records} read, ${repeated.length > 0 ? 'some twice' : 'none twice'}, restarts ${restartMs.join(', ')} ms`,
      )
      assert.deepEqual({ missing, changed, errors, code }, { missing: [], changed: [], errors: [], code: 0 })
      assert.equal(acknowledged + failed * 100 >= RECORDS, true, `${acknowledged} of ${RECORDS} acknowledged, ${failed} failed`)
      assert.ok(acknowledged > RECORDS * 0.9, `${acknowledged} of ${RECORDS} acknowledged`)
    })

    itOrSkips(`by an idempotent ${writer}: in order and once as well`, async () => {
      const { records, acknowledged, failed, restartMs, ...rest } = await crashStory({
        writer,
        count: RECORDS,
        idempotent: true,
        kills: KILLS,
      })
      console.log(`      ${acknowledged} acknowledged, ${records} read, restarts ${restartMs.join(', ')} ms`)
      assert.deepEqual(rest, { missing: [], changed: [], repeated: [], disordered: [], errors: [], code: 0 })
      assert.deepEqual({ records, acknowledged, failed }, { records: RECORDS, acknowledged: RECORDS, failed: 0 })
    })
  }

  itOrSkips("by Kafka's perf tools: as many are consumed as were acknowledged", async () => {
    const { sent, consumed, errors } = await perfStory({ count: RECORDS, kills: KILLS })
    console.log(`      ${sent} acknowledged, ${consumed} consumed`)
    assert.equal(sent, RECORDS)
    assert.equal(consumed, sent)
    assert.deepEqual(errors, [])
  })
})

describe('the check of what kill -9 leaves', function () {
  this.timeout(120_000)
  const count = 6000
  const story = (afterKill) => crashStory({ writer: '@mq/client', count, idempotent: false, kills: [1 / 2], afterKill })

  it('goes red when the broker loses the end of a log', async () => {
    const { missing } = await story(async ({ data }) => {
      for (const log of logsIn(data)) truncateSync(log, Math.floor(statSync(log).size / 2))
    })
    assert.ok(missing.length > 0)
  })
})

function logsIn(data) {
  return readdirSync(data)
    .filter((folder) => folder.startsWith('crashed-'))
    .flatMap((folder) => readdirSync(join(data, folder)).map((file) => join(data, folder, file)))
    .filter((file) => file.endsWith('.log'))
}
