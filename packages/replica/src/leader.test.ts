/** The leader's rules, told as scripts: a line is an event, the lines with an arrow are what has to come of it. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InvariantError } from '@mq/protocol'
import { type Acks, acknowledge, admit } from './acks.js'
import { begin, type LeaderEffect, type LeaderState, step } from './leader.js'
import { leaderEpochAtStart } from './leader-epoch.js'

const SCRIPTS = join(__dirname, '..', 'src', 'scripts')

describe('a leader', () => {
  for (const file of readdirSync(SCRIPTS)) {
    it(`keeps to the script ${file}`, () => {
      const script = readFileSync(join(SCRIPTS, file), 'utf8')
      assert.equal(play(script), script)
    })
  }

  it('does not begin below an epoch that the log has seen', () => {
    const log = { logEndOffset: 5, highWatermark: 5, latestLeaderEpoch: 3 }
    assert.throws(() => begin(1, { leaderEpoch: 2, isr: [1], replicas: [1] }, log), InvariantError)
  })

  it('never lets the high watermark go back, nor pass the log end', () => {
    const { state } = begin(
      1,
      { leaderEpoch: 0, isr: [1], replicas: [1] },
      { logEndOffset: 5, highWatermark: 5, latestLeaderEpoch: 0 },
    )
    for (const logEndOffset of [9, 7, 9, 12, 3]) {
      const before = state.highWatermark
      step(state, { kind: 'appended', logEndOffset })
      assert.ok(state.highWatermark >= before)
      assert.ok(state.highWatermark <= state.logEndOffsets.get(1)!)
    }
    assert.equal(state.highWatermark, 12)
  })
})

/** Runs a script and writes it again with the answers that came. */
function play(script: string): string {
  const lines: string[] = []
  let leader: LeaderState | undefined
  for (const line of script.trimEnd().split('\n')) {
    if (line.startsWith('->')) continue
    lines.push(line)
    if (line.startsWith('#')) continue
    const [verb, first] = line.split(' ')
    const field = (name: string) => line.match(new RegExp(`${name}=(\\([^)]*\\)|\\S+)`))?.[1] ?? ''
    const number = (name: string) => Number(field(name))
    const list = (name: string) => field(name).slice(1, -1).split(' ').map(Number)
    const state = () => leader ?? assert.fail('no leader yet')
    switch (verb) {
      case 'leader': {
        const terms = { leaderEpoch: number('epoch'), isr: list('isr'), replicas: list('replicas') }
        const log = {
          logEndOffset: number('logEndOffset'),
          highWatermark: number('highWatermark'),
          latestLeaderEpoch: number('latestEpoch'),
        }
        const begun = begin(Number(first), terms, log)
        leader = begun.state
        lines.push(...tell(begun.effects))
        break
      }
      case 'append':
        lines.push(...tell(step(state(), { kind: 'appended', logEndOffset: state().logEndOffsets.get(1)! + Number(first) })))
        break
      case 'appended-before':
        lines.push(...tell(step(state(), { kind: 'appended', logEndOffset: Number(first) })))
        break
      case 'admit':
        lines.push(`-> ${admit(state(), number('acks') as Acks, number('min'))}`)
        break
      case 'acknowledge':
        lines.push(`-> ${acknowledge(state(), Number(first), number('min'))}`)
        break
      case 'epoch-at-start':
        lines.push(
          `-> ${leaderEpochAtStart({ storedEpoch: number('stored'), epochInLog: number('inLog'), stoppedCleanly: field('clean') === 'yes' })}`,
        )
        break
      default:
        assert.fail(`no such line: ${line}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function tell(effects: readonly LeaderEffect[]): string[] {
  if (effects.length === 0) return ['-> nothing']
  return effects.map((effect) =>
    effect.kind === 'noteEpoch'
      ? `-> noteEpoch ${effect.leaderEpoch} from ${effect.startOffset}`
      : `-> moveHighWatermark ${effect.to}`,
  )
}
