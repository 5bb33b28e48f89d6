// `npm run conformance -- FOLDER [messages] [records] [misc] [datadirs:clean] [datadirs]`: runs every vector of a folder laid out like
// conformance/ through the packages' public API, lists what failed and ends with "N passed, N failed".
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { dataDirectories } from './conformance/datadirs.mjs'
import { messages } from './conformance/messages.mjs'
import { misc } from './conformance/misc.mjs'
import { records } from './conformance/records.mjs'
import { ROOT } from './toolchain/cache.mjs'

const { openVectors } = createRequire(import.meta.url)('../conformance')

const SUITES = {
  messages,
  records,
  misc,
  'datadirs:clean': (vectors) => dataDirectories(vectors, (variant) => variant.endsWith('/clean')),
  datadirs: (vectors) => dataDirectories(vectors, () => true),
}

/** What the work done so far promises; without names these are run. */
const PROMISED = ['messages', 'records', 'misc', 'datadirs:clean', 'datadirs']

const args = process.argv.slice(2)
const folder = args.find((arg) => !(arg in SUITES)) ?? join(ROOT, 'conformance')
const names = args.filter((arg) => arg in SUITES)
if (args.length > names.length + 1) {
  console.error(`usage: npm run conformance -- FOLDER [${Object.keys(SUITES).join('] [')}]`)
  process.exit(2)
}

const vectors = openVectors(folder)
let passed = 0
let failed = 0
for (const name of names.length === 0 ? PROMISED : names) {
  const before = { passed, failed }
  // Every suite yields one { name, run } for each vector.
  for (const vector of SUITES[name](vectors)) {
    try {
      await vector.run()
      passed += 1
    } catch (error) {
      failed += 1
      console.log(`failed: ${name} ${vector.name}: ${String(error?.message ?? error).slice(0, 800)}`)
    }
  }
  console.log(`${name}: ${passed - before.passed} passed, ${failed - before.failed} failed`)
  if (passed === before.passed && failed === before.failed) failed += 1
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
