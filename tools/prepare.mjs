// Builds after `npm ci`. Where the compiler is not installed (a production install) it says so and ends well.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const compiler = findCompiler()
if (compiler === undefined) {
  console.log('prepare: the TypeScript compiler is not installed here (a production install?): nothing was built')
} else {
  const built = spawnSync(process.execPath, [compiler, '-b'], { cwd: root, stdio: 'inherit' })
  process.exitCode = built.status ?? 1
}

function findCompiler() {
  try {
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json')
    const path = join(dirname(manifest), 'bin', 'tsc')
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}
