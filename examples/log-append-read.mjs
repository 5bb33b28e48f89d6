// A log of one's own, without a broker: append, read on from an offset, find by time, and open it again.
// node examples/log-append-read.mjs [DIRECTORY]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLog } from '@mq/log'

const directory = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'log-example-'))
let log = await openLog(directory, { topic: 'readings', config: { 'segment.bytes': 64 * 1024 } })

const start = Date.UTC(2026, 0, 1)
for (let minute = 0; minute < 1000; minute++)
  await log.append({ key: `sensor-${minute % 3}`, value: `${20 + (minute % 7)} °C`, timestamp: start + minute * 60_000 })
const { firstOffset, lastOffset } = await log.append([{ value: 'together' }, { value: 'in one batch' }], { codec: 'gzip' })
console.log(`appended up to offset ${lastOffset}, the last batch from ${firstOffset} on`)

for await (const { offset, key, value } of log.records(997, { to: 1000 })) console.log(`${offset} ${key}: ${value}`)

const noon = await log.findByTime(start + 12 * 3600_000)
console.log(`the first record from noon on has offset ${noon.offset}`)

const { segments, sizeInBytes } = log.stats()
console.log(`${segments.length} segment${segments.length === 1 ? '' : 's'}, ${sizeInBytes > 0 ? 'on disk' : 'empty'}`)
await log.close()

log = await openLog(directory, { topic: 'readings' })
console.log(`opened again: offsets ${log.logStartOffset} to ${log.logEndOffset - 1}, nothing was cut: ${log.cut === null}`)
await log.close()
if (process.argv[2] === undefined) rmSync(directory, { recursive: true })
