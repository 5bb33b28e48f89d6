/** The flags of a benchmark. What it does not know ends the process with what there is, before anything is measured. */
import { parseArgs } from 'node:util'

/** `choice`: some of these names, with commas between them; all of them when the flag is not given. */
export type Flag =
  | { readonly kind: 'switch' }
  | { readonly kind: 'number' | 'text' }
  | { readonly kind: 'choice'; readonly names: readonly string[] }

type Meant<F extends Flag> = F extends { kind: 'switch' }
  ? boolean
  : F extends { kind: 'choice'; names: readonly (infer Name)[] }
    ? ReadonlySet<Name>
    : F extends { kind: 'number' }
      ? number | undefined
      : string | undefined

export type Values<Table> = { readonly [Name in keyof Table]: Table[Name] extends Flag ? Meant<Table[Name]> : never }

/** @throws Error that names what is wrong and what there is */
export function readFlags<const Table extends { readonly [name: string]: Flag }>(
  table: Table,
  args: readonly string[],
): Values<Table> {
  const options = Object.fromEntries(
    Object.entries(table).map(([name, { kind }]) => [
      name,
      { type: kind === 'switch' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const given = parseArgs({ args: [...args], options }).values
  return Object.fromEntries(Object.entries(table).map(([name, flag]) => [name, meant(name, flag, given[name])])) as Values<Table>
}

function meant(name: string, flag: Flag, given: string | boolean | undefined): unknown {
  if (flag.kind === 'switch') return given === true
  if (flag.kind === 'choice') {
    const chosen = given === undefined ? flag.names : String(given).split(',')
    const unknown = chosen.find((one) => !flag.names.includes(one))
    if (unknown !== undefined) throw new Error(`--${name} ${unknown}: there are ${flag.names.join(', ')}`)
    return new Set(chosen)
  }
  if (given === undefined || flag.kind === 'text') return given
  const number = Number(given)
  if (!(number > 0)) throw new Error(`--${name} ${given}: not a number above 0`)
  return number
}

/** Those of this process; a wrong one ends it with code 2. */
export function flagsOf<const Table extends { readonly [name: string]: Flag }>(table: Table): Values<Table> {
  try {
    return readFlags(table, process.argv.slice(2))
  } catch (error) {
    const there = Object.entries(table).map(([name, flag]) => `--${name}${usageOf(flag)}`)
    console.error(`${(error as Error).message}\nflags: ${there.join(' ') || 'none'}`)
    process.exit(2)
  }
}

function usageOf(flag: Flag): string {
  if (flag.kind === 'switch') return ''
  return flag.kind === 'choice' ? ` ${flag.names.join(',')}` : flag.kind === 'number' ? ' N' : ' TEXT'
}
