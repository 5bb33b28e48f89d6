// `npm run soak:fuzz`, `npm run soak:crash`: the tests of this folder at full size. A fuzz takes a new seed each time, unless SEED names one.
// More arguments are mocha's: `npm run soak:crash -- --grep 'perf tools'` runs one story.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const FULL_SIZE = {
  fuzz: () => ({ FRAMES: '2000000', SEED: String(Date.now()) }),
  crash: () => ({ RECORDS: '1000000' }),
}

const [name, ...more] = process.argv.slice(2)
if (FULL_SIZE[name] === undefined) {
  console.error(`usage: node robustness/soak.mjs ${Object.keys(FULL_SIZE).join(' | ')}`)
  process.exit(2)
}
const mocha = join(dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'bin', 'mocha.js')
const { status } = spawnSync(process.execPath, [mocha, '--no-config', join('robustness', `${name}.test.mjs`), ...more], {
  cwd: join(import.meta.dirname, '..'),
  stdio: 'inherit',
  env: { ...FULL_SIZE[name](), ...process.env },
})
process.exit(status ?? 1)
