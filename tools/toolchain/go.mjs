// Our Go programs, built where Go is new enough; Go itself is never installed.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Missing, part, ROOT, run } from './cache.mjs'

const SOURCES = join(ROOT, 'interop', 'go')
const [MAJOR, MINOR] = [1, 26]

/** The folder with one built program for each folder of interop/go. */
export function goPrograms() {
  const files = readdirSync(SOURCES, { recursive: true })
    .filter((name) => /\.go$|^go\.(mod|sum)$/.test(name))
    .sort()
  return part(
    'go',
    files.flatMap((name) => [name, readFileSync(join(SOURCES, name), 'utf8')]),
    async (into) => {
      const found = /go(\d+)\.(\d+)/.exec(await run('go', ['version'], { cwd: SOURCES }))
      if (Number(found?.[1]) < MAJOR || (Number(found?.[1]) === MAJOR && Number(found?.[2]) < MINOR)) {
        throw new Missing(`go is ${found?.[0]}, and ${MAJOR}.${MINOR} or newer is needed`)
      }
      await run('go', ['build', '-o', `${into}/`, './...'], { cwd: SOURCES })
    },
  )
}
