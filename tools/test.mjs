// `npm test`: every stage of the test command, each with its seconds and its budget, and one closing line "N passed, N failed" over all of them.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from './toolchain/cache.mjs'

const require = createRequire(import.meta.url)
const binOf = (name, bin) => join(dirname(require.resolve(`${name}/package.json`)), bin)
const TSC = binOf('typescript', 'bin/tsc')
const MOCHA = binOf('mocha', 'bin/mocha.js')
// It shows no package.json to others, only its main file.
const KNIP = join(dirname(require.resolve('knip')), '..', 'bin', 'knip.js')
const MINUTE = 60

/**
 * A stage that takes more than twice its budget is stopped and fails by its name. `counts` says how its output is read. What runs `beside`
 * it computes and looks at no clock: it takes what the stage, which waits much, leaves of the machine.
 */
const STAGES = [
  { name: 'build', budget: 2 * MINUTE, args: [TSC, '-b'], counts: 'exit code' },
  { name: 'nothing unused', budget: MINUTE, args: [KNIP, '--no-progress'], counts: 'exit code' },
  { name: 'unit and property', budget: 6 * MINUTE, args: [MOCHA, '--reporter', 'dot'], counts: 'mocha' },
  { name: 'packages', budget: 3 * MINUTE, args: [join('tools', 'packaging.mjs')], counts: 'closing line' },
  { name: 'conformance', budget: 2 * MINUTE, args: [join('tools', 'conformance.mjs')], counts: 'closing line' },
  {
    name: 'crash and fuzz',
    budget: 6 * MINUTE,
    args: [MOCHA, '--no-config', '--exit', join('robustness', '*.test.mjs')],
    beside: [MOCHA, '--no-config', '--exit', join('packages', 'log', 'dist', 'crash', '*.test.js')],
    counts: 'mocha',
  },
  { name: 'interop', budget: 18 * MINUTE, args: [join('interop', 'run.mjs')], counts: 'closing line' },
  {
    name: 'peers',
    budget: 3 * MINUTE,
    args: [
      MOCHA,
      '--no-config',
      '--reporter',
      'dot',
      '--require',
      join('tools', 'toolchain', 'peers.mjs'),
      'packages/*/dist/**/*.peer.test.js',
    ],
    counts: 'mocha',
  },
  { name: 'Java both ways', budget: 5 * MINUTE, args: [join('tools', 'java-both-ways.mjs')], counts: 'closing line' },
]

/** How the counts are read from what a stage printed. */
const READERS = {
  'exit code': (_, code) => ({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 }),
  mocha: (printed) => ({
    passed: lastNumber(printed, /^\s*(\d+) passing/gm),
    failed: lastNumber(printed, /^\s*(\d+) failing/gm),
  }),
  'closing line': (printed) => {
    const [passed, failed] = /(\d+) passed, (\d+) failed\s*$/.exec(printed)?.slice(1).map(Number) ?? [0, 0]
    return { passed, failed }
  },
}

/** Of the stage that runs. A stage is a process group of its own, which a Ctrl-C in the terminal does not reach. */
let stopStage = () => {}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    stopStage()
    process.exit(1)
  })
}

const wanted = process.argv.slice(2)
const total = { passed: 0, failed: 0, skipped: [] }
const failures = []
for (const stage of STAGES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`\n== ${stage.name} (budget ${stage.budget} s)`)
  const { passed, failed, skipped, seconds, why } = await run(stage)
  total.passed += passed
  total.failed += failed
  total.skipped.push(...skipped)
  if (failed > 0) failures.push(why === undefined ? `${stage.name}: ${failed} failed` : `${stage.name}: ${why}`)
  console.log(`== ${stage.name}: ${passed} passed, ${failed} failed, ${seconds.toFixed(1)} s of ${stage.budget}`)
  // Nothing that comes after it can be right when the build is not.
  if (stage.name === 'build' && failed > 0) break
}

console.log('')
for (const failure of failures) console.log(`failed: ${failure}`)
if (total.skipped.length > 0) {
  for (const skipped of total.skipped) console.log(skipped)
  console.log(`${total.skipped.length} skipped${process.env.CI === 'true' ? ', each a failure where CI=true' : ''}`)
  if (process.env.CI === 'true') total.failed += total.skipped.length
}
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1

async function run({ budget, args, beside, counts }) {
  const began = process.hrtime.bigint()
  const runners = [runner(args, counts, (chunk) => process.stdout.write(chunk))]
  if (beside !== undefined) {
    let said = ''
    const other = runner(beside, counts, (chunk) => {
      said += chunk
    })
    setPriority(other.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    // In one piece, so that the lines of the two are not mixed.
    runners.push({ ...other, found: other.found.finally(() => process.stdout.write(said)) })
  }
  stopStage = () => {
    for (const { stop } of runners) stop()
  }
  let isStopped = false
  const late = setTimeout(
    () => {
      isStopped = true
      stopStage()
    },
    2 * budget * 1000,
  )
  const found = await Promise.all(runners.map((one) => one.found))
  clearTimeout(late)
  stopStage = () => {}
  const sum = (what) => found.reduce((total, one) => total + one[what], 0)
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: found.flatMap(({ skipped }) => skipped),
    seconds: Number(process.hrtime.bigint() - began) / 1e9,
    why: isStopped ? `stopped after ${2 * budget} s, twice its budget` : found.find(({ why }) => why !== undefined)?.why,
  }
}

/** Starts a runner in a process group of its own, so that what it started is stopped with it; `found` resolves when it has ended. */
function runner(args, counts, heard) {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  let printed = ''
  child.stdout.on('data', (chunk) => {
    heard(chunk)
    printed = (printed + chunk).slice(-1_000_000)
  })
  const found = new Promise((done) => {
    child.on('close', (code, signal) => {
      const counted = { ...READERS[counts](printed, code), skipped: printed.match(/^skipped: .*$/gm) ?? [] }
      // A runner that ends badly without a failure of its own has failed as a whole.
      if (code !== 0 && counted.failed === 0) done({ ...counted, failed: 1, why: `ended with ${code ?? signal}` })
      else done(counted)
    })
  })
  const stop = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
  return { pid: child.pid, found, stop }
}

function lastNumber(text, pattern) {
  return Number([...text.matchAll(pattern)].at(-1)?.[1] ?? 0)
}
