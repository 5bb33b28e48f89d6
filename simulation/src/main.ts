/** `npm run simulate -- --seed N [--trace] [--seeds A..B] [--without RULE]`: runs seeds, says what they reached and what was wrong. */
import { parseArgs } from 'node:util'
import { BROKEN_RULES, type BrokenRule } from './chaos.js'
import { Reached } from './reached.js'
import { simulate } from './run.js'

const USAGE = `usage: npm run simulate -- [--seed N] [--seeds A..B] [--trace] [--without RULE]
  --seed N       one seed, twice: both runs must have the same hash
  --seeds A..B   all seeds from A to B, once each
  --trace        prints the story
  --without RULE a safety rule is off, and the checkers must object: ${BROKEN_RULES.map((rule) => `'${rule}'`).join(', ')}
`

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string' },
      trace: { type: 'boolean' },
      without: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  const range = /^(\d+)\.\.(\d+)$/.exec(values.seeds ?? `${values.seed ?? 1}..${values.seed ?? 1}`)
  const without = BROKEN_RULES.find((rule) => rule === values.without)
  if (values.help || range === null || (values.without !== undefined && without === undefined)) {
    process.stderr.write(USAGE)
    return 2
  }
  return runAll(Number(range[1]), Number(range[2]), values.trace === true ? 'traced' : 'quiet', without)
}

async function runAll(from: number, to: number, how: 'traced' | 'quiet', without?: BrokenRule): Promise<number> {
  const all = new Reached()
  let failed = 0
  for (let seed = from; seed <= to; seed++) {
    const began = process.hrtime.bigint()
    const rule = without === undefined ? {} : { without }
    const tell = how === 'traced' ? { tell: (line: string) => void process.stdout.write(`${line}\n`) } : {}
    const outcome = await simulate({ seed, ...rule, ...tell })
    const again = from === to ? (await simulate({ seed, ...rule })).digest : outcome.digest
    const ms = Number((process.hrtime.bigint() - began) / 1_000_000n)
    all.add(outcome.reached)
    const { digest, starts, events, acknowledged, commits, rounds, simulatedMs, violations } = outcome
    const seconds = (simulatedMs / 1000).toFixed(1)
    console.log(
      `seed ${seed}: ${digest.slice(0, 16)}, ${seconds} s simulated, ${events} events, ${starts} starts, ${acknowledged} acknowledged, ${commits} commits, ${rounds} rounds, ${ms} ms`,
    )
    for (const line of violations) console.log(`  ${line}`)
    if (again !== digest) console.log(`  the second run differs: ${again.slice(0, 16)}`)
    if (violations.length > 0 || again !== digest) failed++
  }
  console.log('reached:')
  for (const [what, count] of all.entries()) console.log(`  ${String(count).padStart(6)}  ${what}`)
  console.log(`${to - from + 1 - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    console.error(error)
    process.exitCode = 1
  },
)
