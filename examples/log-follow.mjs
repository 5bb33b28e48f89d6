// Follows a log while it grows: committed records alone, until it is told to stop.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLog, openReadOnly } from '@mq/log'

const directory = mkdtempSync(join(tmpdir(), 'log-example-'))
const log = await openLog(directory, { topic: 'events' })
// As another process would: it sees the writer's files and touches none.
const reader = await openReadOnly(join(directory, 'events-0'))

const stop = new AbortController()
const following = (async () => {
  for await (const record of reader.records('earliest', { follow: true, isolation: 'read_committed', signal: stop.signal })) {
    console.log(`read ${record.offset}: ${record.value}`)
    if (String(record.value) === 'the last') stop.abort()
  }
})()

for (const value of ['the first', 'the second', 'the last']) await log.append({ value })
await following.catch((error) => {
  if (error.name !== 'AbortError') throw error
})
console.log(`stopped at offset ${reader.logEndOffset}`)
await reader.close()
await log.close()
rmSync(directory, { recursive: true })
