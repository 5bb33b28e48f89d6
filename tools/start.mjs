// `npm start`: runs the broker. Builds once when nothing is built and the compiler is there; never compiles again by itself.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const main = join(root, 'packages', 'broker', 'dist', 'main.js')
if (!existsSync(main)) {
  spawnSync(process.execPath, [join(root, 'tools', 'prepare.mjs')], { stdio: 'inherit' })
}
if (!existsSync(main)) {
  console.error('start: nothing is built. Run `npm ci` (it installs the compiler and builds), then `npm start` again.')
  process.exitCode = 1
} else {
  await import(pathToFileURL(join(root, 'packages', 'broker', 'bin', 'mq-broker.js')))
}
