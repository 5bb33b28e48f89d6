/** mq metadata: what a stopped broker's data directory knows of topics, configs and partitions, out and in. */

import { readFileSync, writeFileSync } from 'node:fs'
import { exportMetadata, importMetadata, type OfflineOptions } from '@mq/broker'
import type { Command } from 'commander'
import { commonOptions } from '../session.js'
import { printTable, type Terminal } from '../terminal.js'

interface DirectoryOptions {
  data: string[]
  metadataDir?: string
}

const collect = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text]

export function metadata(program: Command, terminal: Terminal): void {
  const command = program
    .command('metadata')
    .description('export or import the metadata of a data directory; its broker must be stopped')

  const withDirectories = (each: Command): Command =>
    each
      .requiredOption('-d, --data <dir>', 'the data directory; to be repeated for each of log.dirs', collect)
      .option('--metadata-dir <dir>', 'where the metadata is, if mq.metadata.dir is set')

  withDirectories(command.command('export [file]'))
    .description('write the metadata as JSON, one node each, to the file or to standard output')
    .action(async (file: string | undefined, options: DirectoryOptions, self: Command) => {
      const { json } = commonOptions(self)
      const text = await exportMetadata(directoriesOf(options))
      if (file === undefined) {
        terminal.out(text.endsWith('\n') ? text : `${text}\n`)
        return
      }
      writeFileSync(file, text)
      const nodes = (JSON.parse(text) as unknown[]).length
      terminal.out(json ? `${JSON.stringify({ file, nodes })}\n` : `${nodes} nodes written to ${file}\n`)
    })

  withDirectories(command.command('import <file>'))
    .description("take the metadata of a Kafka cluster in: what is on disk goes before the file's word")
    .action(async (file: string, options: DirectoryOptions, self: Command) => {
      const { json } = commonOptions(self)
      const result = await importMetadata(directoriesOf(options), readFileSync(file, 'utf8'))
      if (json) terminal.out(`${JSON.stringify(result)}\n`)
      else {
        const { nodes, newTopics, released, left } = result
        printTable(terminal, {
          json,
          rows: [{ nodes, 'new topics': newTopics.length, 'configs known': released.length, 'left out': left.length }],
          columns: ['nodes', 'new topics', 'configs known', 'left out'],
        })
        for (const line of left) terminal.error(`left out: ${line}\n`)
      }
    })
}

function directoriesOf({ data, metadataDir }: DirectoryOptions): OfflineOptions {
  return { directories: data, ...(metadataDir === undefined ? {} : { metadataDirectory: metadataDir }) }
}
