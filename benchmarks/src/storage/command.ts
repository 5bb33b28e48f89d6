/** What the storage benchmarks share: their options, a folder to work in, and rounds in which all contestants take their turn. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flagsOf, type Values } from '../flags.js'
import { type Contestant, startJava } from './contestant.js'

const FLAGS = {
  quick: { kind: 'switch' },
  json: { kind: 'switch' },
  /** Where files are written: the disk that is measured. */
  dir: { kind: 'text' },
} as const

export type Options<Parts extends string> = Values<typeof FLAGS> & { readonly only: ReadonlySet<Parts> }

/**
 * Runs the benchmark in a new folder, which goes away afterwards.
 * @param parts of which `--only` picks some
 */
export function main<Parts extends string = never>(
  work: (folder: string, options: Options<Parts>) => Promise<void>,
  parts: readonly Parts[] = [],
): void {
  const only = new Set<Parts>()
  const options = parts.length === 0 ? { ...flagsOf(FLAGS), only } : flagsOf({ ...FLAGS, only: { kind: 'choice', names: parts } })
  const folder = mkdtempSync(join(options.dir ?? tmpdir(), 'mq-bench-'))
  work(folder, options)
    .catch((error: Error) => {
      console.error(error)
      process.exitCode = 1
    })
    .finally(() => rmSync(folder, { recursive: true, force: true }))
}

/**
 * What each piece of work gave, round by round; within a round each has its turn, so that what else the machine does hits all.
 * What cannot be done here (undefined) gives nothing.
 */
export async function interleaved<Name extends string, Figures>(
  count: number,
  works: { readonly [N in Name]?: (() => Promise<Figures>) | undefined },
): Promise<Record<Name, Figures[]>> {
  const names = Object.keys(works) as Name[]
  const figures = Object.fromEntries(names.map((name) => [name, [] as Figures[]])) as Record<Name, Figures[]>
  for (let round = 0; round < count; round++)
    for (const name of names) {
      const work = works[name]
      if (work !== undefined) figures[name].push(await work())
    }

  return figures
}

/** Null where there is no Java, said once. */
export async function javaIfThere(args: readonly string[]): Promise<Contestant | null> {
  try {
    return await startJava(args)
  } catch (error) {
    console.error(`skipped: Apache Kafka's storage engine: ${(error as Error).message.split('\n')[0]}`)
    return null
  }
}
