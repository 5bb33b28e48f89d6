/**
 * `npm run bench:partitions`: 10,000 partitions of three segments in one log directory: time to open after a clean stop and after a kill,
 * memory, open files while all are appended to and read; and what an append costs at 10 and at 10,000 partitions, at one segment and at
 * 1,000. `--quick` has a tenth of both; `--json`, `--dir`.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Row, report } from './report.js'
import { spreadOf } from './statistics.js'
import { interleaved, main } from './storage/command.js'
import { type Contestant, startNode } from './storage/contestant.js'
import { makePartitions, makeUnclean, SEGMENTS } from './storage/many-partitions.js'
import type { Usage } from './storage/usage.js'

const PROGRAM = 'partitions-contestant.js'
/** What the log has by default. */
const HANDLES = 1000
const FEW = 10

interface Seen extends Usage {
  readonly handles: number
}

interface Opened extends Seen {
  readonly residentMb: number
}

const microseconds = (usages: readonly Usage[]) => spreadOf(usages.map(({ cpuMs, count }) => (cpuMs * 1000) / count))
const start = (dir: string): Promise<Contestant> => startNode('ours', PROGRAM, [dir])

/** Opens in a process of its own, uses everything, closes. */
async function whole(dir: string, count: number, use: boolean) {
  const process = await start(dir)
  try {
    const opened = await process.ask<Opened>('open', HANDLES)
    if (opened.count !== count) throw new Error(`${opened.count} partitions where ${count} must be`)
    const used = use
      ? {
          append: await process.ask<Seen>('append', count, 'look'),
          read: await process.ask<Seen>('read', count, 'look'),
          memory: await process.ask<{ residentMb: number }>('memory'),
        }
      : undefined
    return { opened, used, closed: await process.ask<Usage>('close') }
  } finally {
    await process.close()
  }
}

async function many(dir: string, count: number, quick: boolean): Promise<Row[]> {
  await makePartitions(dir, count)
  const empty = await emptyMb(join(dir, '..', 'empty'))
  const used = await whole(dir, count, true)
  const clean = []
  const unclean = []
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    clean.push(await whole(dir, count, false))
    makeUnclean(dir, count)
    unclean.push(await whole(dir, count, false))
  }
  const name = `${count.toLocaleString('en')} partitions of ${SEGMENTS} segments`
  const rows: Row[] = []
  const add = (what: string, unit: string, figures: readonly number[], target?: Row['target']): void => {
    rows.push({ what: `${name}: ${what}`, unit, ours: spreadOf(figures), ...(target === undefined ? {} : { target }) })
  }
  for (const [what, runs] of [
    ['open after a clean stop', clean],
    ['open after a kill', unclean],
  ] as const) {
    add(
      what,
      's',
      runs.map(({ opened }) => opened.wallMs / 1000),
    )
    add(
      what,
      'CPU ms a partition',
      runs.map(({ opened }) => opened.cpuMs / count),
    )
  }
  add(
    'memory a partition, opened',
    'KB',
    clean.map(({ opened }) => ((opened.residentMb - empty) * 1000) / count),
  )
  add('memory a partition, all used', 'KB', [((used.used!.memory.residentMb - empty) * 1000) / count])
  add(
    'files open, opened',
    'handles',
    clean.map(({ opened }) => opened.handles),
    { atMost: HANDLES, of: 'ours' },
  )
  add('files open, appending to all', 'handles', [used.used!.append.handles], { atMost: HANDLES, of: 'ours' })
  add('files open, reading from all', 'handles', [used.used!.read.handles], { atMost: HANDLES, of: 'ours' })
  add(
    'close, nothing changed',
    's',
    clean.map(({ closed }) => closed.wallMs / 1000),
  )
  return rows
}

/** A process with one partition. */
async function emptyMb(dir: string): Promise<number> {
  await makePartitions(dir, 1)
  const { opened } = await whole(dir, 1, false)
  return opened.residentMb
}

/** An append to each partition in turn: few of them, many with files that are opened and closed, many with a file each. */
async function growth(dir: string, count: number, folder: string, quick: boolean): Promise<Row[]> {
  const fewDir = join(folder, 'few')
  await makePartitions(fewDir, FEW)
  const few = await start(fewDir)
  const bounded = await start(dir)
  await few.ask('open', HANDLES)
  await bounded.ask('open', HANDLES)
  const appends = 2 * Math.max(count, 10_000)
  const withBound = {
    few: () => few.ask<Usage>('append', appends),
    bounded: () => bounded.ask<Usage>('append', appends),
  }
  await interleaved(3, withBound) // warms both
  const figures = await interleaved(quick ? 3 : 7, withBound)
  await bounded.ask('close')
  await bounded.close()
  const unbounded = await start(dir)
  await unbounded.ask('open', count * 2)
  const bareFew = await start(fewDir)
  const bareMany = await start(dir)
  await bareFew.ask('bareOpen', join(folder, 'bare-few'), FEW)
  await bareMany.ask('bareOpen', join(folder, 'bare-many'), count)
  const withoutBound = {
    few: () => few.ask<Usage>('append', appends),
    unbounded: () => unbounded.ask<Usage>('append', appends),
    bareFew: () => bareFew.ask<Usage>('bareWrite', appends),
    bareMany: () => bareMany.ask<Usage>('bareWrite', appends),
  }
  await interleaved(3, withoutBound) // warms all, and opens the files
  const again = await interleaved(quick ? 3 : 7, withoutBound)
  for (const process of [few, unbounded]) await process.ask('close')
  for (const process of [bareFew, bareMany]) await process.ask('bareClose')
  for (const process of [few, unbounded, bareFew, bareMany]) await process.close()
  const name = count.toLocaleString('en')
  return [
    {
      what: `an append at ${name} partitions in turn, ${HANDLES} handles`,
      unit: 'CPU µs',
      ours: microseconds(figures.bounded),
      peer: microseconds(figures.few),
      peerName: `at ${FEW}`,
    },
    {
      what: `an append at ${name} partitions in turn, a handle for each`,
      unit: 'CPU µs',
      ours: microseconds(again.unbounded),
      peer: microseconds(again.few),
      peerName: `at ${FEW}`,
      target: { atMost: 1.1 },
    },
    {
      what: `a bare write of the same bytes to ${name} files in turn`,
      unit: 'CPU µs',
      ours: microseconds(again.bareMany),
      peer: microseconds(again.bareFew),
      peerName: `to ${FEW}`,
    },
  ]
}

/** S26: the speed does not depend on what is kept. */
async function segments(folder: string, count: number, quick: boolean): Promise<Row[]> {
  const short = join(folder, 'short')
  const long = join(folder, 'long')
  for (const dir of [short, long]) await makePartitions(dir, 1)
  const one = await start(short)
  const thousand = await start(long)
  await one.ask('open', HANDLES)
  await thousand.ask('open', HANDLES)
  await thousand.ask('segments', count)
  const rows: Row[] = []
  for (const what of ['append', 'tail'] as const) {
    const works = {
      one: () => one.ask<Usage>(what, 20_000),
      thousand: () => thousand.ask<Usage>(what, 20_000),
    }
    await interleaved(quick ? 3 : 6, works) // warms both
    const figures = await interleaved(quick ? 5 : 15, works)
    rows.push({
      what: `${what === 'append' ? 'an append' : 'a read of the last record'} at ${count.toLocaleString('en')} segments`,
      unit: 'CPU µs',
      ours: microseconds(figures.thousand),
      peer: microseconds(figures.one),
      peerName: `at ${SEGMENTS}`,
      target: { atMost: 1.1 },
    })
  }
  for (const process of [one, thousand]) {
    await process.ask('close')
    await process.close()
  }
  return rows
}

main(async (folder, { quick, json }) => {
  const count = quick ? 1_000 : 10_000
  const dir = join(folder, 'many')
  const rows = await many(dir, count, quick)
  rows.push(...(await growth(dir, count, folder, quick)))
  rmSync(dir, { recursive: true })
  rows.push(...(await segments(folder, quick ? 100 : 1_000, quick)))
  report('partitions', rows, { json, keep: !quick })
})
