import assert from 'node:assert/strict'
import { Reached } from './machine.test.support.js'
import { run } from './run.test.support.js'

const FIRST_SEED = Number(process.env.SEED ?? 1)
const RANDOM_STOPS = Number(process.env.STOPS ?? 10_000)

/** Each must have been seen: what was never reached was not shown. */
const MUST_BE_REACHED = [
  'power cut',
  'process cut',
  'stopped in a start',
  'a write is lost',
  'a write is torn at its end',
  'a write is torn at its front',
  'a write lives that came after a lost one',
  'lost: made N.log',
  'lost: made N.index',
  'lost: made N.txnindex',
  'lost: made N.snapshot',
  'lost: made P',
  'lost: removed N.snapshot',
  'lost: removed .kafka_cleanshutdown',
  'lost: renamed N.log to N.log.deleted',
  'lost: renamed P to P.id-delete',
  'lost: renamed leader-epoch-checkpoint.tmp to leader-epoch-checkpoint',
  'lost: renamed log-start-offset-checkpoint.tmp to log-start-offset-checkpoint',
  'lost: renamed partition.metadata.tmp to partition.metadata',
  'lost: renamed recovery-point-offset-checkpoint.tmp to recovery-point-offset-checkpoint',
  'lost: renamed .kafka_cleanshutdown.tmp to .kafka_cleanshutdown',
  'lost: made N.log.cleaned',
  'lost: renamed N.log.cleaned to N.log.swap',
  'lost: renamed N.log.swap to N.log',
  'stopped in: append',
  'stopped in: clean',
  'stopped in: create',
  'stopped in: delete',
  'stopped in: retention',
  'stopped in: startOver',
  'stopped in: truncate',
  'not there: create under way',
  'not there: delete under way',
  'a hole in a compacted log',
  'recovery: the last batch is not whole',
  'recovery: records N to N are missing before the segment that follows',
  'recovery: the CRC does not match',
]

describe('logs after the machine stopped', function () {
  this.timeout(3_600_000)
  const reached = new Reached()

  it('at every operation of a workload, hold what was promised', async () => {
    const stops = await run({ seed: FIRST_SEED, steps: 30, oneIn: 1, reached })
    assert.ok(stops > 1000, `${stops} stops`)
  })

  it(`at ${RANDOM_STOPS} random operations of random workloads, the same`, async () => {
    let stops = 0
    for (let seed = FIRST_SEED + 1; stops < RANDOM_STOPS; seed++) stops += await run({ seed, steps: 60, oneIn: 12, reached })
  })

  it('were stopped in every way that there is', () => {
    if (process.env.TRACE !== undefined)
      for (const [what, count] of [...reached.counts].sort()) console.log(`      ${count} × ${what}`)
    assert.deepEqual(
      MUST_BE_REACHED.filter((what) => !reached.counts.has(what)),
      [],
    )
  })
})
