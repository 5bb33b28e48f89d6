import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { MemoryDisk } from '@mq/log'
import { BatchBuilder, encodeVersioned, TransactionLogKey, TransactionLogValue } from '@mq/protocol'
import { vectors } from '../../../../conformance/index.js'
import { epochsInCheckpoints, scanPartition } from './disk-scan.js'

const FOLDER = '/d/t-0'
const partition = { topic: 't', partition: 0 }

function batch(baseOffset: number, producerId: number, leaderEpoch = 0, more: { value?: Buffer; codec?: number } = {}): Buffer {
  const builder = new BatchBuilder({
    baseOffset,
    leaderEpoch,
    ...(producerId < 0 ? {} : { producerId, producerEpoch: 0, baseSequence: 0 }),
  })
  builder.tryAppend({ timestamp: 1, key: null, value: more.value ?? Buffer.alloc(50), headers: [] })
  return builder.build()
}

function diskWith(files: Record<string, Buffer>): MemoryDisk {
  const disk = new MemoryDisk()
  for (const [path, bytes] of Object.entries(files)) {
    disk.makeDirectoryNow(path.slice(0, path.lastIndexOf('/')))
    const file = disk.openNow(path, 'create')
    file.writevNow([bytes], 0)
    file.closeNow()
  }
  return disk
}

const log = (base: number) => `${FOLDER}/${String(base).padStart(20, '0')}.log`

describe('the scan of a partition for epochs and producer ids', () => {
  it('finds the highest of all batches, and nothing in an empty partition', async () => {
    const disk = diskWith({
      [log(0)]: Buffer.concat([batch(0, 5, 2), batch(1, 9, 3), batch(2, -1, 3)]),
      [log(3)]: batch(3, 7, 4),
      [log(4)]: Buffer.alloc(0),
    })
    assert.deepEqual(await scanPartition(disk, '/d', partition, null), { leaderEpoch: 4, producerId: 9 })
    const empty = diskWith({ [log(0)]: Buffer.alloc(0) })
    assert.deepEqual(await scanPartition(empty, '/d', partition, null), { leaderEpoch: -1, producerId: -1 })
  })

  it('walks files larger than what it reads at a time', async () => {
    const batches = Array.from({ length: 400 }, (_, at) => batch(at, at === 399 ? 12_345 : 1, 0, { value: Buffer.alloc(2000) }))
    const disk = diskWith({ [log(0)]: Buffer.concat(batches) })
    assert.equal((await scanPartition(disk, '/d', partition, null)).producerId, 12_345)
  })

  it('reads only what comes behind the mark, but all of it when the log was written anew', async () => {
    const first = Buffer.concat([batch(0, 100), batch(1, 101)])
    const mark = { offset: 2, segment: 0, position: first.length }
    const grown = diskWith({ [log(0)]: Buffer.concat([first, batch(2, 50)]), [log(3)]: batch(3, 60) })
    assert.equal((await scanPartition(grown, '/d', partition, mark)).producerId, 60)
    const same = diskWith({ [log(0)]: first })
    assert.equal((await scanPartition(same, '/d', partition, mark)).producerId, -1)
    const anew = diskWith({
      [log(0)]: Buffer.concat([batch(0, 100), batch(1, 70, 0, { value: Buffer.alloc(80) }), batch(2, 50)]),
    })
    assert.equal((await scanPartition(anew, '/d', partition, mark)).producerId, 100)
    const older = diskWith({ [log(0)]: batch(0, 999), [log(1)]: batch(1, 3) })
    assert.equal((await scanPartition(older, '/d', partition, { offset: 1, segment: 1, position: 0 })).producerId, 3)
  })

  it('takes the ids in values of the transaction log', async () => {
    const value = (producerId: number) =>
      encodeVersioned(TransactionLogValue, 0, {
        producerId,
        producerEpoch: 0,
        transactionTimeoutMs: 1,
        transactionStatus: 0,
        transactionPartitions: [],
      })
    const builder = new BatchBuilder({ baseOffset: 0, leaderEpoch: 0 })
    builder.tryAppend({
      timestamp: 1,
      key: encodeVersioned(TransactionLogKey, 0, { transactionalId: 'x' }),
      value: value(77_000),
      headers: [],
    })
    builder.tryAppend({
      timestamp: 1,
      key: encodeVersioned(TransactionLogKey, 0, { transactionalId: 'y' }),
      value: null,
      headers: [],
    })
    const disk = diskWith({ '/d/__transaction_state-0/00000000000000000000.log': builder.build() })
    assert.equal((await scanPartition(disk, '/d', { topic: '__transaction_state', partition: 0 }, null)).producerId, 77_000)
  })

  it('takes the ids in the snapshots that Java wrote', async () => {
    const files =
      vectors.json<Record<string, { entries?: { producers?: { producerId: number }[] } }>>('datadirs/main/clean.files.json')
    const { logs, remove } = vectors.extractDatadir('main/clean')
    let checked = 0
    for (const [path, { entries }] of Object.entries(files)) {
      const ids = (entries?.producers ?? []).map(({ producerId }) => producerId)
      if (ids.length === 0) continue
      const disk = diskWith({ [`${FOLDER}/${path.split('/')[1]}`]: readFileSync(`${logs}/${path}`) })
      assert.equal((await scanPartition(disk, '/d', partition, null)).producerId, Math.max(...ids), path)
      checked++
    }
    remove()
    assert.ok(checked > 3)
  })

  it('ends at damage with what it found before, and leaves out ids that no block reaches', async () => {
    const disk = diskWith({
      [log(0)]: Buffer.concat([batch(0, 5), batch(1, 2 ** 53 - 1), Buffer.alloc(200, 0xff)]),
      [log(2)]: Buffer.concat([batch(2, 6), batch(3, 8).subarray(0, 70)]),
    })
    assert.equal((await scanPartition(disk, '/d', partition, null)).producerId, 6)
  })

  it('reads the epochs of all checkpoints, and passes over folders that are no partitions and files that are damaged', () => {
    const checkpoint = (text: string) => Buffer.from(text)
    const disk = diskWith({
      '/d/t-0/leader-epoch-checkpoint': checkpoint('0\n2\n0 0\n7 12\n'),
      '/d/t-1/leader-epoch-checkpoint': checkpoint('0\n0\n'),
      '/d/t-2/leader-epoch-checkpoint': checkpoint('broken'),
      '/d/t-3.0123456789abcdef0123456789abcdef-delete/leader-epoch-checkpoint': checkpoint('0\n1\n9 0\n'),
      '/d/t-4/00000000000000000000.log': Buffer.alloc(0),
    })
    assert.deepEqual(
      [...epochsInCheckpoints(disk, ['/d', '/none'])],
      [
        ['t-0', 7],
        ['t-1', -1],
      ],
    )
  })
})
