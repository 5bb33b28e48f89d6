/** Prints a table of ratios beside their targets and keeps the figures as JSON, with the machine and the commit that made them. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { ratioOf, type Spread, told } from './statistics.js'

export interface Row {
  readonly what: string
  readonly unit: string
  readonly ours: Spread
  readonly peer?: Spread | undefined
  readonly peerName?: string
  /** The peer is what the machine allows at most: told as a percentage of it. */
  readonly peerIsLimit?: boolean
  /** Ratio to reach: at most (costs) or at least (rates). Absent: the figure is only reported. */
  readonly target?: { readonly atMost?: number; readonly atLeast?: number; readonly of?: 'ratio' | 'ours' }
}

const FOLDER = resolve(__dirname, '..', 'results')

export function verdictOf({ ours, peer, target }: Row): 'met' | 'missed' | '-' {
  if (target === undefined) return '-'
  const figure = target.of === 'ours' ? ours.median : peer === undefined ? undefined : ratioOf(ours, peer)
  if (figure === undefined) return '-'
  return figure <= (target.atMost ?? Number.POSITIVE_INFINITY) && figure >= (target.atLeast ?? 0) ? 'met' : 'missed'
}

/** With `json` standard output has the JSON alone. Without `keep` the results of the last whole run stay. */
export function report(name: string, rows: readonly Row[], { json = false, keep = true } = {}): void {
  const text = `${JSON.stringify(resultsOf(name, rows), null, 2)}\n`
  if (json) process.stdout.write(text)
  else print(name, rows)
  if (!keep) return
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, `${name}.json`), text)
}

function print(name: string, rows: readonly Row[]): void {
  console.log(`\n${name}: min / median / max`)
  for (const row of rows) {
    const { what, unit, ours, peer, peerName, peerIsLimit, target } = row
    const parts = [`  ${what} [${unit}]  ours ${told(ours)}`]
    if (peer !== undefined) {
      const ratio = ratioOf(ours, peer)
      parts.push(`${peerName} ${told(peer)}`, peerIsLimit ? `${(100 * ratio).toFixed(0)} % of it` : `ratio ${ratio.toFixed(2)}`)
    }
    if (target !== undefined)
      parts.push(`target ${target.atMost === undefined ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`}: ${verdictOf(row)}`)
    console.log(parts.join('  '))
  }
}

function resultsOf(name: string, rows: readonly Row[]) {
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  }
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: __dirname, encoding: 'utf8' }).trim()
  const results = rows.map((row) => ({
    ...row,
    ratio: row.peer === undefined ? undefined : ratioOf(row.ours, row.peer),
    verdict: verdictOf(row),
  }))
  return { name, date: new Date().toISOString().slice(0, 10), commit, machine, rows: results }
}
