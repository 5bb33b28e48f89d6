import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Record, RecordBatch } from '@mq/protocol'
import { type RecordsSummary, summary, vectors } from '../../../conformance/index.js'
import type { LogView } from './log-view.js'
import { openLogDirectory } from './open-log.js'
import { openDirectoryReadOnly } from './read-only-directory.js'

interface ExpectedPartition {
  readonly topic: string
  readonly partition: number
  readonly topicId: string | null
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly lastStableOffset: number
  readonly read_uncommitted: RecordsSummary
  readonly read_committed: RecordsSummary
}

/** Every file and folder: name, size, times and bytes. */
function everything(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { size, mtimeMs, ctimeMs, mode, ino } = statSync(path)
      const hash = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
      return [path, size, mtimeMs, ctimeMs, mode, ino, hash].join(' ')
    })
    .sort()
}

async function all(records: AsyncIterable<Record>): Promise<Record[]> {
  const found: Record[] = []
  for await (const record of records) found.push(record)
  return found
}

/** What a consumer with read_uncommitted gets: markers of transactions are not for it either. */
async function withoutMarkers(log: LogView): Promise<Record[]> {
  const found: Record[] = []
  for await (const batch of log.batches('earliest', { maxBytes: 4096 })) {
    if (batch instanceof RecordBatch && batch.isControl) continue
    for (const record of batch.records()) if (record.offset >= log.logStartOffset) found.push(record)
  }
  return found
}

async function seen(log: LogView, expected: ExpectedPartition): Promise<ExpectedPartition> {
  return {
    ...expected,
    ...log.topicPartition,
    topicId: log.topicId,
    logStartOffset: log.logStartOffset,
    logEndOffset: log.logEndOffset,
    lastStableOffset: log.lastStableOffset,
    read_uncommitted: summary(await withoutMarkers(log)),
    read_committed: summary(await all(log.records('earliest', { isolation: 'read_committed', maxBytes: 4096 }))),
  }
}

for (const variant of vectors.datadirs()) {
  describe(`the data directory ${variant}, opened read-only`, function () {
    this.timeout(30_000)
    const { partitions } = vectors.json<{ readonly partitions: { readonly [name: string]: ExpectedPartition } }>(
      `datadirs/${variant}.expected.json`,
    )
    let folder: ReturnType<typeof vectors.extractDatadir>
    before(() => {
      folder = vectors.extractDatadir(variant)
    })
    after(() => folder.remove())

    it('gives the records that a start would serve, and leaves every byte, name and time as it was', async () => {
      const before = everything(folder.logs)
      const directory = await openDirectoryReadOnly(folder.logs)
      assert.deepEqual(
        directory.logs.map((log) => `${log.topicPartition.topic}-${log.topicPartition.partition}`).sort(),
        Object.keys(partitions).sort(),
      )
      for (const [name, partition] of Object.entries(partitions)) {
        assert.deepEqual(await seen(directory.get(partition)!, partition), partition, name)
      }
      await directory.get({ topic: 'plain', partition: 0 })?.findByTime('maxTimestamp')
      await directory.get({ topic: 'plain', partition: 0 })?.refresh()
      await directory.close()
      assert.deepEqual(everything(folder.logs), before)
    })

    it('gives the same as a writable open of the same directory, and tells beforehand what that cuts', async () => {
      const readOnly = await openDirectoryReadOnly(folder.logs)
      const cuts = new Map(readOnly.logs.map((log) => [String(log.path), log.cut]))
      await readOnly.close()
      const writable = await openLogDirectory(folder.logs)
      try {
        for (const [name, partition] of Object.entries(partitions)) {
          const log = writable.get(partition)!
          assert.deepEqual(await seen(log, partition), partition, name)
          assert.deepEqual(log.cut, cuts.get(log.path), name)
        }
      } finally {
        await writable.close()
      }
    })
  })
}
