// A Python virtual environment with the pinned Python clients.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { part, run } from './cache.mjs'
import { needSystem } from './system.mjs'

const REQUIREMENTS = join(dirname(fileURLToPath(import.meta.url)), 'requirements.txt')

/** The path of a Python that has the clients. */
export async function python() {
  const folder = await part('python', [readFileSync(REQUIREMENTS, 'utf8')], async (into) => {
    await needSystem('python-venv')
    await run('python3', ['-m', 'venv', into])
    await run(join(into, 'bin', 'pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--only-binary',
      ':all:',
      '-r',
      REQUIREMENTS,
    ])
  })
  return join(folder, 'bin', 'python')
}
