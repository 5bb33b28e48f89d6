// Programs of the system that peers need. Installed by apt-get only where we are root on Debian; elsewhere they are used when they are there.
import { existsSync } from 'node:fs'
import { has, Missing, run, tried } from './cache.mjs'

const PACKAGES = {
  kcat: { probe: ['kcat', ['-V']], debian: ['kcat'] },
  java: { probe: ['javac', ['-version']], debian: ['default-jdk-headless'] },
  maven: { probe: ['mvn', ['-v']], debian: ['maven'] },
  fio: { probe: ['fio', ['--version']], debian: ['fio'] },
  'python-venv': { probe: ['python3', ['-c', 'import venv, ensurepip']], debian: ['python3-venv'] },
}

const found = new Map()
let installing = Promise.resolve()
let listsAreFresh = false

/** Makes sure of `kcat`, `java` (with the compiler), `maven`, `fio` or `python-venv`; throws `Missing` with the reason otherwise. */
export function needSystem(name) {
  if (!found.has(name)) {
    // One apt-get at a time: it holds a lock of its own.
    const work = installing.then(() => find(name))
    installing = work.catch(() => {})
    found.set(name, work)
  }
  return found.get(name)
}

async function find(name) {
  const { probe, debian } = PACKAGES[name]
  if (await has(...probe)) return
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    throw new Missing(
      `${name} is not installed, and can be installed by this command only as root on Debian (apt-get install ${debian.join(' ')})`,
    )
  }
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  try {
    await tried(async () => {
      if (!listsAreFresh) await run('apt-get', ['update', '-q'], { env })
      listsAreFresh = true
      await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...debian], { env })
    })
  } catch (error) {
    throw new Missing(`apt-get could not install ${debian.join(' ')}: ${error.message}`)
  }
  if (!(await has(...probe))) throw new Missing(`${probe[0]} is still missing after apt-get install ${debian.join(' ')}`)
}
