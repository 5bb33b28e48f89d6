// Packs every package, asks publint and arethetypeswrong about it, installs it with those it stands on into an empty folder by one npm command,
// and runs the example of its README there. Ends with "N passed, N failed".
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { startOurs } from '../interop/targets.mjs'
import { ROOT, run } from './toolchain/cache.mjs'

const require = createRequire(import.meta.url)
const ATTW = join(dirname(require.resolve('@arethetypeswrong/cli/package.json')), 'dist', 'index.js')

const folder = mkdtempSync(join(tmpdir(), 'mq-packaging-'))
const packages = readdirSync(join(ROOT, 'packages')).map((name) => {
  const path = join(ROOT, 'packages', name)
  return { path, name, manifest: JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) }
})
let passed = 0
let failed = 0
try {
  const tarballs = new Map()
  for (const { path, manifest } of packages) {
    await check(`${manifest.name} packs`, async () => tarballs.set(manifest.name, await pack(path)))
  }
  // Examples of clients need a broker; they take its address from MQ_BROKER and use localhost:9092 without it.
  const broker = await startOurs({ dir: folder })
  try {
    for (const { path, name, manifest } of packages) {
      await check(`${manifest.name} is fit to publish`, () => isFit(tarballs.get(manifest.name)))
      await check(`${manifest.name} has right types`, () =>
        run(process.execPath, [ATTW, tarballs.get(manifest.name), '--no-emoji', '--no-color', '--format', 'ascii']),
      )
      const home = join(folder, name)
      mkdirSync(home)
      await check(`${manifest.name} installs`, () =>
        install(
          home,
          closure(manifest.name).map((one) => tarballs.get(one)),
        ),
      )
      await check(`${manifest.name} loads by import and require`, () => load(home, manifest.name))
      await check(`${manifest.name}: the example of its README runs`, () =>
        runExample(home, join(path, 'README.md'), broker.bootstrap),
      )
    }
  } finally {
    await broker.stop()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function check(name, work) {
  try {
    await work()
    passed += 1
  } catch (error) {
    failed += 1
    console.log(`failed: ${name}: ${error.message}`)
  }
}

async function pack(path) {
  const printed = await run('npm', ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: path,
  })
  const told = JSON.parse(printed.slice(printed.search(/[[{]/)))
  const [{ filename, files }] = Object.values(told)
  const stray = files.map((file) => file.path).filter((file) => /\.test\.|tsbuildinfo|^src\//.test(file))
  if (stray.length > 0) throw new Error(`it packs ${stray.slice(0, 5).join(', ')}`)
  return join(folder, filename)
}

async function isFit(tarball) {
  const bytes = readFileSync(tarball)
  const archive = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const { messages, pkg } = await publint({ pack: { tarball: archive }, strict: true })
  if (messages.length > 0) throw new Error(messages.map((message) => formatMessage(message, pkg)).join('; '))
}

/** A package and all of ours that it stands on. */
function closure(name, found = new Set()) {
  if (found.has(name)) return [...found]
  found.add(name)
  const { manifest } = packages.find((one) => one.manifest.name === name)
  for (const below of Object.keys(manifest.dependencies ?? {})) if (below.startsWith('@mq/')) closure(below, found)
  return [...found]
}

async function install(home, tarballs) {
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs], { cwd: home })
}

async function load(home, name) {
  const test = `import('${name}').then((esm) => { const cjs = require('${name}'); for (const key of Object.keys(cjs)) if (esm[key] !== cjs[key]) throw new Error(key + ' differs') })`
  await run(process.execPath, ['-e', test], { cwd: home })
}

/** The first block of js, or of sh where there is none. */
async function runExample(home, readme, broker) {
  const text = readFileSync(readme, 'utf8')
  const found = /^```(js)\n([\s\S]*?)^```/m.exec(text) ?? /^```(sh)\n([\s\S]*?)^```/m.exec(text)
  if (found === null) throw new Error('the README has no block of js or sh')
  const [, language, code] = found
  const file = join(home, language === 'sh' ? 'example.sh' : /^\s*import\b/m.test(code) ? 'example.mjs' : 'example.cjs')
  writeFileSync(file, code)
  const env = { MQ_BROKER: broker, PATH: `${join(home, 'node_modules', '.bin')}:${process.env.PATH}` }
  const [program, args] = language === 'sh' ? ['bash', ['-euo', 'pipefail', file]] : [process.execPath, [file]]
  await run(program, args, { cwd: home, env, timeoutMs: 60_000 })
}
