/** What the storage benchmarks share: their options, a folder to work in, and rounds in which all contestants take their turn. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contestant, startJava } from './contestant.js'

export interface Options {
  readonly quick: boolean
  readonly json: boolean
  /** Where files are written: the disk that is measured. */
  readonly dir: string
}

export function optionsOf(args: readonly string[]): Options {
  const at = args.indexOf('--dir')
  return { quick: args.includes('--quick'), json: args.includes('--json'), dir: at < 0 ? tmpdir() : args[at + 1]! }
}

/** Runs the benchmark in a new folder, which goes away afterwards. */
export function main(work: (folder: string, options: Options) => Promise<void>): void {
  const options = optionsOf(process.argv.slice(2))
  const folder = mkdtempSync(join(options.dir, 'mq-bench-'))
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
