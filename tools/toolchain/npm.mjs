// Node clients of other projects, installed in a folder of their own so that the workspace never sees them.
import { cpSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { part, run } from './cache.mjs'

const CLIENTS = join(dirname(fileURLToPath(import.meta.url)), 'npm-clients')

/** The folder whose `node_modules` has the clients. */
export function npmClients() {
  const files = ['package.json', 'package-lock.json', '.npmrc']
  return part(
    'npm',
    files.map((name) => readFileSync(join(CLIENTS, name), 'utf8')),
    async (into) => {
      for (const name of files) cpSync(join(CLIENTS, name), join(into, name))
      await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: into })
    },
  )
}
