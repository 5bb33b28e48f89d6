/** What many logs take of the machine, counted: open files, indexes in memory, bytes that a look-up reads. */
import assert from 'node:assert/strict'
import type { PartitionLog } from './log.js'
import { appended, batch, type Harness, harness, produce } from './log.test.support.js'
import { MemoryDisk } from './memory-disk.js'
import type { DiskFile, OpenMode } from './ports.js'
import { ManualTime } from './testing.js'

/** Counts open files, and what is read of which kind of file. */
class CountingDisk extends MemoryDisk {
  open = 0
  mostOpen = 0
  reads: { readonly path: string; readonly sizeInBytes: number }[] = []
  /** How often each folder was listed. */
  readonly lists = new Map<string, number>()
  /** Files that were written or cut. */
  readonly changed: string[] = []

  constructor() {
    super({
      faults: ({ kind, path, sizeInBytes }) => {
        if (kind === 'read') this.reads.push({ path, sizeInBytes })
        if (kind === 'list') this.lists.set(path, (this.lists.get(path) ?? 0) + 1)
        if (kind === 'write' || kind === 'truncate') this.changed.push(path)
        return undefined
      },
    })
  }

  override openNow(path: string, mode: OpenMode): DiskFile {
    const file = super.openNow(path, mode)
    this.open++
    this.mostOpen = Math.max(this.mostOpen, this.open)
    file.closeNow = () => {
      this.open--
    }
    return file
  }

  of(ending: string) {
    return this.reads.filter(({ path }) => path.endsWith(ending))
  }
}

const SEGMENTS = 3
const RECORDS_A_SEGMENT = 40
const NO_TAIL = 1

async function fill(log: PartitionLog, recordsASegment: number): Promise<void> {
  for (let segment = 0; segment < SEGMENTS; segment++) {
    if (segment > 0) await log.roll()
    for (let at = 0; at < recordsASegment; at++) {
      const timestamp = 1_700_000_000_000 + log.logEndOffset
      appended(await produce(log, batch({ values: [Buffer.alloc(1000, 'x')], timestamp })))
    }
  }
  await log.flush()
}

async function manyLogs(
  count: number,
  directories: { readonly openFilesLimit?: number; readonly indexMemoryBytes?: number },
  recordsASegment = RECORDS_A_SEGMENT,
): Promise<{ readonly made: Harness; readonly disk: CountingDisk; logs(): PartitionLog[] }> {
  const disk = new CountingDisk()
  const made = await harness({ disk, directories: { tailCacheBytes: NO_TAIL, ...directories } })
  for (let partition = 1; partition < count; partition++)
    await made.directories.create({ topic: 't', partition }, null, made.log.config)
  const logs = () => [...made.directories.all()]
  for (const log of logs()) await fill(log, recordsASegment)
  return { made, disk, logs }
}

async function firstOffsetRead(log: PartitionLog, offset: number): Promise<number> {
  const read = await log.read(offset, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' })
  if (read.kind === 'refused') throw new Error(read.message)
  return Number(read.slices[0]!.readBigInt64BE())
}

describe('many logs', () => {
  it('hold no more files open than they may, however many are appended to and read', async () => {
    const limit = 20
    const { made, disk, logs } = await manyLogs(60, { openFilesLimit: limit }, 2)
    const within = (when: string) => assert.ok(disk.open <= limit, `${disk.open} files open ${when}`)
    within('after appending')
    await made.directories.close()
    assert.equal(disk.open, 0)
    await made.reopen()
    within('after a start')
    for (const log of logs()) for (const offset of [0, 2, 4]) assert.equal(await firstOffsetRead(log, offset), offset)
    within('after reading')
    for (const log of logs()) appended(await produce(log, batch()))
    within('after appending again')
    // Eight logs are closed at a time, each with one of its small files.
    assert.ok(disk.mostOpen <= limit + 8, `${disk.mostOpen} at most`)
    await made.directories.close()
    assert.equal(disk.open, 0)
  })

  it('read an index of a closed segment when it is asked for, once, and give it back when others need the room', async () => {
    const { made, disk } = await manyLogs(2, { indexMemoryBytes: 1 })
    await made.directories.close()
    disk.reads = []
    const first = await made.reopen()
    const index = '/t-0/00000000000000000000.index'
    assert.equal(disk.of(index).length, 0, 'a start reads none')
    await firstOffsetRead(first, 10)
    await firstOffsetRead(first, 20)
    assert.equal(disk.of(index).length, 1)
    await firstOffsetRead(first, 50)
    await firstOffsetRead(first, 10)
    assert.equal(disk.of(index).length, 2, 'another segment took its room')
    await made.directories.close()
  })

  it('are opened with one look at each folder, and one at the end of each log', async () => {
    const { made, disk } = await manyLogs(3, {})
    await made.directories.close()
    disk.reads = []
    disk.lists.clear()
    await made.reopen()
    for (const partition of [0, 1, 2]) assert.equal(disk.lists.get(`/data/t-${partition}`), 1)
    const data = disk.of('.log')
    assert.deepEqual(
      data.map(({ path }) => path),
      // The first batch's header, and what follows the last entry of the index.
      [0, 0, 1, 1, 2, 2].map((partition) => `/data/t-${partition}/${String(2 * RECORDS_A_SEGMENT).padStart(20, '0')}.log`),
    )
    const most = made.log.config['index.interval.bytes'] + 2_200
    assert.ok(Math.max(...data.map(({ sizeInBytes }) => sizeInBytes)) <= most, JSON.stringify(data))
  })

  it('leave the files that they find right after a kill as they are', async () => {
    const { made, disk } = await manyLogs(1, {})
    await made.directories.close()
    disk.removeNow('/data/.kafka_cleanshutdown')
    disk.removeNow('/data/recovery-point-offset-checkpoint')
    disk.changed.length = 0
    const log = await made.reopen()
    assert.equal(log.logEndOffset, SEGMENTS * RECORDS_A_SEGMENT)
    assert.deepEqual(
      disk.changed.filter((path) => path.startsWith('/data/t-0/')),
      [],
    )
  })

  it('let others have their turn while they are opened', async () => {
    const { made, disk } = await manyLogs(5, {}, 2)
    await made.directories.close()
    const slow = new ManualTime()
    let turns = 0
    const clock = {
      now: () => slow.now(),
      monotonic() {
        slow.advance(6)
        return slow.monotonic()
      },
    }
    const pause = {
      afterThisTurn(run: () => void) {
        turns++
        queueMicrotask(run)
      },
    }
    await harness({ disk, directories: { clock, pause } })
    assert.ok(turns >= 5, `${turns} turns`)
  })

  it('find an offset by one read, not larger than it must be', async () => {
    const { made, disk } = await manyLogs(1, {})
    for (const offset of [0, 7, 39, 40, 79, 80, 119]) {
      await firstOffsetRead(made.log, offset)
      disk.reads = []
      assert.equal(await firstOffsetRead(made.log, offset), offset)
      assert.equal(disk.reads.length, 1, `offset ${offset}: ${JSON.stringify(disk.reads)}`)
      assert.ok(disk.reads[0]!.sizeInBytes <= 64 * 1024 + 1, `${disk.reads[0]!.sizeInBytes} bytes`)
    }
    await made.directories.close()
  })

  it('begin to read where the index says, not at the start of the segment', async () => {
    const { made, disk } = await manyLogs(1, {})
    await firstOffsetRead(made.log, 30)
    disk.reads = []
    await firstOffsetRead(made.log, 30)
    // 30 batches of about 1.1 kB lie before it; the entry before it is at most index.interval.bytes and a batch away.
    const sizeOfSegment = made.log.segmentViews()[0]!.sizeInBytes
    const fromIndex = disk.reads[0]!.sizeInBytes
    const most = (sizeOfSegment / RECORDS_A_SEGMENT) * (RECORDS_A_SEGMENT - 30) + made.log.config['index.interval.bytes'] + 2_200
    assert.ok(fromIndex <= most, `${fromIndex} bytes of ${sizeOfSegment}, ${most} are enough`)
    await made.directories.close()
  })
})
