import assert from 'node:assert/strict'
import { RECORD_BATCH } from '@mq/protocol'
import { batch } from './log.test.support.js'
import { MemoryDisk } from './memory-disk.js'
import type { DiskFile } from './ports.js'
import { scanBatches } from './segment-scan.js'

const MIB = 1 << 20

/** A file, and the size of the largest buffer that it was read into. */
function opened(slices: readonly Buffer[]) {
  const file = new MemoryDisk().openNow('/f', 'create')
  file.writevNow(slices, 0)
  const seen = { largest: 0 }
  const read: DiskFile['read'] = (into, position) => {
    seen.largest = Math.max(seen.largest, into.length)
    return file.read(into, position)
  }
  return { file: Object.assign(Object.create(file) as DiskFile, { read }), seen, sizeInBytes: file.sizeNow() }
}

async function sizesIn({ file, sizeInBytes }: ReturnType<typeof opened>): Promise<number[]> {
  const sizes: number[] = []
  for await (const each of scanBatches(file, 0, sizeInBytes)) sizes.push(each.sizeInBytes)
  return sizes
}

describe('a walk over the batches of a data file', () => {
  it('takes no memory for what a damaged length says, and ends there', async () => {
    const sound = batch()
    const damaged = batch({ values: ['damaged'] })
    RECORD_BATCH.batchLength.set(damaged, 0, 39 * MIB)
    const made = opened([sound, damaged, Buffer.alloc(40 * MIB)])
    assert.deepEqual(await sizesIn(made), [sound.length])
    assert.ok(made.seen.largest <= MIB, `${made.seen.largest} bytes at once`)
  })

  it('gives large batches whose checksum is right', async () => {
    const large = batch({ values: [Buffer.alloc(17 * MIB, 7)] })
    const small = batch()
    assert.deepEqual(
      await sizesIn(opened([small, large, small])),
      [small, large, small].map(({ length }) => length),
    )
  })
})
