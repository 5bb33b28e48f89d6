/** mq log verify: what is wrong with a log directory, a partition or a segment, and what a start would do about it. */

import { type Finding, nodeDisk, type Verified, verifyLogs, verifyTarget } from '@mq/log'
import type { Command } from 'commander'
import { type Progress, progressOf } from '../progress.js'
import { commonOptions, wholeNumber } from '../session.js'
import { printTable, type Terminal } from '../terminal.js'

interface VerifyOptions {
  indexInterval?: number
  quiet?: boolean
}

export function logVerify(command: Command, terminal: Terminal): void {
  command
    .command('verify <path>')
    .description(
      'check every batch and index entry, snapshots, checkpoints and ids of a data directory, the folder of a partition (orders-0), or a segment (….log); exit code 0: sound, 1: problems were found',
    )
    .option('--index-interval <bytes>', "the topics' index.interval.bytes, to tell stretches that lack entries", wholeNumber(0))
    .option('-q, --quiet', 'leave out notes: what is worth knowing, and sound')
    .action(async (path: string, options: VerifyOptions, self: Command) => {
      const { json } = commonOptions(self)
      if (verifyTarget(nodeDisk, path) === null)
        self.error(`error: "${path}" is neither a directory nor the data file of a segment`)
      let bar: Progress | null = null
      const found: Finding[] = []
      const result = await verifyLogs(path, {
        ...(options.indexInterval === undefined ? {} : { indexIntervalBytes: options.indexInterval }),
        report: (finding) => {
          if (finding.level === 'note' && options.quiet === true) return
          if (json) found.push(finding)
          else terminal.out(`${lineOf(finding)}\n`)
        },
        progress: (done, all) => {
          bar ??= progressOf(terminal, 'verify', all)
          bar.at(done)
        },
      })
      ;(bar as Progress | null)?.end()
      if (json) terminal.out(`${JSON.stringify({ ...result, findings: found }, null, 2)}\n`)
      else printSummary(terminal, result)
      if (result.problems > 0)
        throw new Error(`${path}: ${result.problems === 1 ? 'a problem was' : `${result.problems} problems were`} found`)
    })
}

function lineOf({ level, file, position, offset, problem, atStart }: Finding): string {
  const place = [
    file,
    ...(position === undefined ? [] : [`byte ${position}`]),
    ...(offset === undefined ? [] : [`offset ${offset}`]),
  ]
  return `${level}: ${place.join(', ')}: ${problem}\n  a start: ${atStart}`
}

function printSummary(terminal: Terminal, { partitions, segments, batches, sizeInBytes, problems, notes }: Verified): void {
  printTable(terminal, {
    json: false,
    rows: [{ partitions, segments, batches, bytes: sizeInBytes, problems, notes }],
    columns: ['partitions', 'segments', 'batches', 'bytes', 'problems', 'notes'],
  })
}
