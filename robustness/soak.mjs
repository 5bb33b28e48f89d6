// `npm run soak:fuzz`, `soak:crash`, `soak:storage`: tests of the stage "crash and fuzz" at full size. Fuzz and storage take new seeds each
// time, unless SEED names one.
// More arguments are mocha's: `npm run soak:crash -- --grep 'perf tools'` runs one story.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const FULL_SIZE = {
  fuzz: { tests: join('robustness', 'fuzz.test.mjs'), size: { FRAMES: '2000000', SEED: String(Date.now()) } },
  crash: { tests: join('robustness', 'crash.test.mjs'), size: { RECORDS: '1000000' } },
  storage: {
    tests: join('packages', 'log', 'dist', 'crash', '*.test.js'),
    size: { STOPS: '200000', KILLS: '200', SEED: String(Date.now() % 1_000_000_000) },
  },
}

const [name, ...more] = process.argv.slice(2)
if (FULL_SIZE[name] === undefined) {
  console.error(`usage: node robustness/soak.mjs ${Object.keys(FULL_SIZE).join(' | ')}`)
  process.exit(2)
}
const mocha = join(dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'bin', 'mocha.js')
const { tests, size } = FULL_SIZE[name]
const { status } = spawnSync(process.execPath, [mocha, '--no-config', tests, ...more], {
  cwd: join(import.meta.dirname, '..'),
  stdio: 'inherit',
  env: { ...size, ...process.env },
})
process.exit(status ?? 1)
