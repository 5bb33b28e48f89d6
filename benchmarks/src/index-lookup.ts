/**
 * `npm run bench:index`: lookups in an offset index of 10 MiB, anywhere and in its last 8 KiB: ours, Apache Kafka's OffsetIndex, and a plain
 * binary search by Buffer.readInt32BE, in one run, in turns. `--quick`, `--json`.
 */

import { join } from 'node:path'
import { type Row, report } from './report.js'
import { spreadOf } from './statistics.js'
import { writeBatches } from './storage/batches.js'
import { interleaved, javaIfThere, main } from './storage/command.js'
import { startNode } from './storage/contestant.js'
import { writeIndex } from './storage/index-entries.js'
import { perCpuSecond, type Usage } from './storage/usage.js'

const PROGRAM = 'index-contestant.js'
const MILLION = 1_000_000
const millions = (usages: readonly Usage[]) => spreadOf(usages.map((usage) => perCpuSecond(usage) / MILLION))

main(async (folder, { quick, json }) => {
  const index = join(folder, '00000000000000000000.index')
  const batches = join(folder, 'batches')
  writeIndex(index)
  writeBatches(batches)
  const ours = await startNode('ours', PROGRAM, [index, 'ours'])
  const plain = await startNode('plain', PROGRAM, [index, 'plain'])
  const java = await javaIfThere([batches])
  try {
    const rows: Row[] = []
    for (const where of ['random', 'tail']) {
      const count = (quick ? 0.3 : 1) * MILLION * (where === 'tail' ? 3 : 1)
      const works = {
        ours: () => ours.ask<Usage>('lookup', index, where, count),
        plain: () => plain.ask<Usage>('lookup', index, where, count),
        java: java === null ? undefined : () => java.ask<Usage>('lookup', index, where, count),
      }
      await interleaved(quick ? 3 : 10, works) // warms them
      const found = await interleaved(quick ? 5 : 21, works)
      if (found.ours[0]!.bytes !== found.plain[0]!.bytes) throw new Error('the lookups do not find the same')
      const row = { what: `offset index, 10 MiB, ${where}`, unit: 'million lookups/CPU s', ours: millions(found.ours) }
      if (found.java.length > 0)
        rows.push({ ...row, peer: millions(found.java), peerName: "Java's OffsetIndex", target: { atLeast: 1.5 } })
      rows.push({ ...row, peer: millions(found.plain), peerName: 'binary search by readInt32BE' })
    }
    report('index', rows, { json, keep: !quick })
  } finally {
    for (const contestant of [ours, plain, java]) await contestant?.close()
  }
})
