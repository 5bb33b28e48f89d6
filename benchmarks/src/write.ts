/**
 * `npm run bench:write`: appends of 16 KiB batches to @mq/log, with the native CRC and the JavaScript one, beside the limits of this
 * machine (writev of the size actually written, and that plus the CRC pass) and Apache Kafka's UnifiedLog; what durability costs; and
 * the contrast of sequential and random writes. Each contestant is a process of its own; all take turns in one run.
 * `--only append,durable,contrast` picks parts, `--quick` shortens, `--json` prints JSON, `--dir` names the disk.
 */

import { join } from 'node:path'
import { type Row, report } from './report.js'
import { type Spread, spreadOf } from './statistics.js'
import { writeBatches } from './storage/batches.js'
import { interleaved, javaIfThere, main } from './storage/command.js'
import { type Contestant, startNode } from './storage/contestant.js'
import { contrastByFio, contrastByScript } from './storage/sequential-and-random.js'
import { mbPerCpuSecond, mbPerSecond, perSecond, type Usage } from './storage/usage.js'

const PROGRAM = 'write-contestant.js'
const CALLERS = 32

interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** Each in a process for callers that are gathered and one for a caller alone: nobody's code is compiled for both. */
interface Field {
  readonly native: Contestant
  readonly nativeAlone: Contestant
  readonly javascript: Contestant
  readonly javascriptAlone: Contestant
  readonly limits: Contestant
  readonly java: Contestant | null
  readonly folder: string
  readonly quick: boolean
}

const spread = (usages: readonly Usage[], figure: (usage: Usage) => number): Spread => spreadOf(usages.map(figure))

async function appends(field: Field): Promise<Row[]> {
  const { native, nativeAlone, javascript, javascriptAlone, limits, java, folder, quick } = field
  const count = quick ? 4_000 : 10_000
  const ours = join(folder, 'ours')
  const limit = join(folder, 'limit')
  const { batchesAWrite } = await native.ask<{ batchesAWrite: number }>('shape', ours, count, CALLERS)
  const together = Math.round(batchesAWrite)
  const works = {
    gathered: () => native.ask<Usage>('gathered', ours, count, CALLERS),
    writev: () => limits.ask<Usage>('writev', limit, count, together),
    writevCrc: () => limits.ask<Usage>('writev-crc', limit, count, together),
    gatheredJavascript: () => javascript.ask<Usage>('gathered', ours, count, CALLERS),
    writevCrcJavascript: () => javascript.ask<Usage>('writev-crc', limit, count, together),
    single: () => nativeAlone.ask<Usage>('single', ours, count),
    singleJavascript: () => javascriptAlone.ask<Usage>('single', ours, count),
    writevSingle: () => limits.ask<Usage>('writev', limit, count, 1),
    writevCrcSingle: () => limits.ask<Usage>('writev-crc', limit, count, 1),
    java: java === null ? undefined : () => java.ask<Usage>('single', join(folder, 'java'), count),
  }
  await interleaved(quick ? 2 : 4, works) // warms all of them
  if (java !== null) for (let warm = 0; warm < (quick ? 2 : 20); warm++) await java.ask('single', join(folder, 'java'), count)
  const figures: { java?: Usage[] } & Record<keyof Omit<typeof works, 'java'>, Usage[]> = await interleaved(quick ? 3 : 11, works)
  const rows: Row[] = []
  const add = (
    what: string,
    mine: readonly Usage[],
    peerName: string,
    peer: readonly Usage[] | undefined,
    options: { atLeast?: number; peerIsLimit?: boolean } = {},
  ): void => {
    if (peer === undefined) return
    const { atLeast, peerIsLimit = false } = options
    rows.push({
      what,
      unit: 'MB/CPU s',
      ours: spread(mine, mbPerCpuSecond),
      peer: spread(peer, mbPerCpuSecond),
      peerName,
      peerIsLimit,
      ...(atLeast === undefined ? {} : { target: { atLeast } }),
    })
    rows.push({
      what,
      unit: 'MB/s',
      ours: spread(mine, mbPerSecond),
      peer: spread(peer, mbPerSecond),
      peerName,
      peerIsLimit,
    })
  }
  const size = `${together * 16} KiB`
  const gathered = `append 16 KiB, ${CALLERS} callers`
  const java391 = "Java's UnifiedLog"
  add(gathered, figures.gathered, `writev of ${size}`, figures.writev, { peerIsLimit: true })
  add(gathered, figures.gathered, `writev of ${size} and CRC`, figures.writevCrc, { peerIsLimit: true, atLeast: 0.9 })
  add(gathered, figures.gathered, java391, figures.java, { atLeast: 1.8 })
  add(`${gathered}, JavaScript CRC`, figures.gatheredJavascript, `writev of ${size} and CRC`, figures.writevCrcJavascript, {
    peerIsLimit: true,
  })
  add(`${gathered}, JavaScript CRC`, figures.gatheredJavascript, java391, figures.java, { atLeast: 0.85 })
  const single = 'append 16 KiB, one at a time'
  add(single, figures.single, 'writev of 16 KiB', figures.writevSingle, { peerIsLimit: true, atLeast: 0.7 })
  add(single, figures.single, 'writev of 16 KiB and CRC', figures.writevCrcSingle, { peerIsLimit: true })
  add(single, figures.single, java391, figures.java)
  add(`${single}, JavaScript CRC`, figures.singleJavascript, 'writev of 16 KiB', figures.writevSingle, { peerIsLimit: true })
  add(`${single}, JavaScript CRC`, figures.singleJavascript, java391, figures.java)
  for (const callers of [1, CALLERS]) {
    const took = await interleaved(quick ? 3 : 5, {
      ours: () => (callers === 1 ? nativeAlone : native).ask<Latency>('latency', ours, count, callers),
    })
    for (const which of ['p50', 'p99', 'p999', 'max'] as const)
      rows.push({
        what: `append 16 KiB, ${callers} ${callers === 1 ? 'caller' : 'callers'}, ${which}`,
        unit: 'µs',
        ours: spreadOf(took.ours.map((each) => each[which])),
      })
  }
  return rows
}

/** `flush.messages=1`: an answer waits for the disk. */
async function durability({ native, limits, java, folder, quick }: Field): Promise<Row[]> {
  const rows: Row[] = []
  for (const partitions of [1, 100])
    for (const callers of [1, 8, 64]) {
      const count = (quick ? 60 : 300) * Math.min(callers, 16)
      const alone = quick ? 60 : 300
      const { ours, lone, kafka } = await interleaved(quick ? 2 : 5, {
        ours: () => native.ask<Usage>('durable', join(folder, 'ours'), partitions, callers, count),
        lone: () => limits.ask<Usage>('fdatasync', join(folder, 'lone'), alone),
        kafka:
          java === null
            ? undefined
            : () => java.ask<Usage>('durable', join(folder, 'java'), partitions, callers, Math.min(count, 4 * alone)),
      })
      const what = `flush.messages=1, ${callers} ${callers === 1 ? 'caller' : 'callers'}, ${partitions} ${partitions === 1 ? 'partition' : 'partitions'}`
      const row = { what, unit: 'appends/s', ours: spread(ours, perSecond) }
      rows.push({ ...row, peer: spread(lone, perSecond), peerName: 'a lone fdatasync after each write' })
      if (kafka.length > 0) rows.push({ ...row, peer: spread(kafka, perSecond), peerName: 'Java, flush.messages=1' })
    }
  return rows
}

async function contrast({ folder, quick }: Field): Promise<Row[]> {
  const seconds = quick ? 1 : 3
  const figures = await interleaved(quick ? 1 : 3, {
    script: async () => contrastByScript(folder, seconds),
    fio: () => contrastByFio(folder, seconds),
  })
  const rows: Row[] = []
  for (const [name, each] of [
    ['durable writes, 1 MiB in order', figures.script],
    ['fio, direct writes, 1 MiB in order', figures.fio],
  ] as const) {
    const found = each.filter((one) => one !== null)
    if (found.length === 0) continue
    rows.push({
      what: name,
      unit: 'MB/s',
      ours: spreadOf(found.map(({ sequential }) => sequential)),
      peer: spreadOf(found.map(({ random }) => random)),
      peerName: '4 KiB anywhere',
    })
  }
  return rows
}

const PARTS = { append: appends, durable: durability, contrast }

main(
  async (folder, { quick, json, only }) => {
    const batches = join(folder, 'batches')
    writeBatches(batches)
    const javascriptOnly = ['--require', join(__dirname, 'storage', 'without-native.js')]
    const field: Field = {
      native: await startNode('ours', PROGRAM, [batches]),
      nativeAlone: await startNode('ours', PROGRAM, [batches]),
      javascript: await startNode('ours in JavaScript', PROGRAM, [batches], javascriptOnly),
      javascriptAlone: await startNode('ours in JavaScript', PROGRAM, [batches], javascriptOnly),
      limits: await startNode('limits', PROGRAM, [batches]),
      java: await javaIfThere([batches]),
      folder,
      quick,
    }
    try {
      const rows: Row[] = []
      for (const [name, part] of Object.entries(PARTS))
        if (only.has(name as keyof typeof PARTS)) rows.push(...(await part(field)))
      report('write', rows, { json, keep: !quick && only.size === Object.keys(PARTS).length })
    } finally {
      const { native, nativeAlone, javascript, javascriptAlone, limits, java } = field
      for (const each of [native, nativeAlone, javascript, javascriptAlone, limits, java]) await each?.close()
    }
  },
  Object.keys(PARTS) as (keyof typeof PARTS)[],
)
