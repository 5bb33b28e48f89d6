/** mq log dump: the records of partitions and segments, one a line. */

import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type DumpEntry, kindOfLogFile, logRecordBytes, logRecordEntries, partitionFolder } from '@mq/log'
import type { Command } from 'commander'
import { printEntries } from '../entries.js'
import { dumpProgress } from '../progress.js'
import { commonOptions, wholeNumber } from '../session.js'
import type { Terminal } from '../terminal.js'

interface DumpOptions {
  from?: number
  to?: number
  values?: boolean
}

export function logDump(command: Command, terminal: Terminal): void {
  command
    .command('dump <paths...>')
    .description('print the records of data directories, folders of partitions (orders-0) or segments (….log)')
    .option('--from <offset>', 'begin at this offset', wholeNumber(0))
    .option('--to <offset>', 'end before this offset', wholeNumber(0))
    .option('-v, --values', 'keys, values and headers, not only their sizes')
    .action(async (paths: string[], options: DumpOptions, self: Command) => {
      const { json } = commonOptions(self)
      const sources = paths.flatMap((path) => sourcesOf(path, self))
      const bar = dumpProgress(
        terminal,
        'dump',
        sources.reduce((sum, source) => sum + logRecordBytes(source), 0),
      )
      const entries = recordsOf(sources, options, bar.moved)
      try {
        await printEntries(terminal, entries, { json, what: paths.join(', ') })
      } finally {
        bar.end()
      }
    })
}

/** The folders and segments that a path stands for. */
function sourcesOf(path: string, self: Command): string[] {
  if (statSync(path).isFile()) {
    if (kindOfLogFile(basename(path)) !== 'segment')
      self.error(`error: "${path}" is no data file of a segment (mq dump prints others)`)
    return [path]
  }
  if (partitionFolder(basename(path)) !== null) return [path]
  const folders = readdirSync(path, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && partitionFolder(entry.name)?.kind === 'partition',
  )
  if (folders.length === 0) self.error(`error: "${path}" is neither the folder of a partition nor a directory of such`)
  return folders.map(({ name }) => join(path, name)).sort()
}

/** With its partition or file in front, where there are several. */
async function* recordsOf(
  sources: readonly string[],
  { from, to, values = false }: DumpOptions,
  progress: (bytes: number) => void,
): AsyncGenerator<DumpEntry> {
  const limits = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  for (const source of sources) {
    const name = sources.length === 1 ? {} : { of: basename(source) }
    for await (const entry of logRecordEntries(source, { ...limits, progress }))
      yield { ...name, ...(values ? entry : sizesOf(entry)) }
  }
}

/** Null has no size: it is a tombstone, or a record without a key. */
function sizesOf(entry: DumpEntry): DumpEntry {
  if (!('value' in entry)) return entry
  const { key, value, headers, ...rest } = entry as { key: Buffer | null; value: Buffer | null; headers: readonly unknown[] }
  return { ...rest, keyBytes: key?.length ?? null, valueBytes: value?.length ?? null, headers: headers.length }
}
