import assert from 'node:assert/strict'
import { MemoryDisk } from '@mq/log'
import { EmbeddedStore } from './embedded.js'
import { JOURNAL_FILE, SNAPSHOT_FILE } from './journal.js'
import { FILE_HEADER, FRAME, MetadataDamageError } from './journal-format.js'
import { isStoreError, type MetadataStore } from './store.js'
import { storeContract } from './store-contract.test.support.js'
import { exportTree } from './tree-file.js'

const DIRECTORY = '/data'
const JOURNAL = `${DIRECTORY}/${JOURNAL_FILE}`
const SNAPSHOT = `${DIRECTORY}/${SNAPSHOT_FILE}`
const clock = { now: () => 1_700_000_000_000 }

const open = (disk: MemoryDisk, more: { snapshotBytes?: number; onFailed?: (error: unknown) => void } = {}) =>
  EmbeddedStore.open({ disk, directory: DIRECTORY, clock, ...more })

storeContract('the embedded store on a disk', async () => {
  const store = await open(new MemoryDisk(), { snapshotBytes: 2000 })
  return { connect: async () => store.connect(), close: () => store.close() }
})

/** Everything a reader can see but the sessions' names. */
const contentOf = async (store: EmbeddedStore) => (await exportTree(store.connect())).replaceAll(/"ephemeral":(true|false)/g, '')

/** A workload of one transaction after the other; some of them arrive together, so that they share a write. */
const WORKLOAD: readonly ((session: MetadataStore, step: number) => Promise<unknown>)[] = [
  (session) => session.create('/a', null),
  (session) => session.create('/a/seq-', Buffer.from('x'), { sequential: true }),
  ...Array.from({ length: 12 }, () => (session: MetadataStore, step: number) => session.set('/a', Buffer.alloc(40 + step, step))),
  (session) =>
    session.multi([
      { kind: 'create', path: '/b', data: Buffer.alloc(0) },
      { kind: 'set', path: '/a', data: null, version: 12 },
      { kind: 'create', path: '/b/c', data: null },
    ]),
  (session) => session.create('/a/seq-', null, { sequential: true }),
  ...Array.from({ length: 6 }, () => (session: MetadataStore, step: number) => session.set('/b', Buffer.from(`step ${step}`))),
  (session) => session.delete('/b/c'),
  (session) => session.delete('/b'),
]
const GROUPS = [1, 1, 1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2, 1]

/** Runs the workload until it ends or the disk fails. `acknowledged` counts from the front. */
async function work(store: EmbeddedStore): Promise<{ acknowledged: number; issued: number }> {
  const session = store.connect()
  let acknowledged = 0
  let issued = 0
  for (const size of GROUPS) {
    const calls = WORKLOAD.slice(issued, issued + size).map((call, at) => call(session, issued + at))
    issued += calls.length
    for (const outcome of await Promise.allSettled(calls)) {
      if (outcome.status === 'fulfilled') acknowledged++
      else if (!isStoreError(outcome.reason, 'STORAGE_FAILED')) throw outcome.reason
    }
    if (acknowledged < issued) return { acknowledged, issued }
  }
  return { acknowledged, issued }
}

describe('the journal of the embedded store', function () {
  this.timeout(20_000)
  /** Content after each number of transactions, and how many disk operations the whole takes. */
  let states: string[]
  let operations: number
  const SNAPSHOT_BYTES = 300 // several snapshots on the way

  before(async () => {
    const plain = EmbeddedStore.inMemory(clock)
    const session = plain.connect()
    states = [await contentOf(plain)]
    for (const [step, call] of WORKLOAD.entries()) {
      await call(session, step)
      states.push(await contentOf(plain))
    }
    const disk = new MemoryDisk()
    const store = await open(disk, { snapshotBytes: SNAPSHOT_BYTES })
    assert.deepEqual(await work(store), { acknowledged: WORKLOAD.length, issued: WORKLOAD.length })
    operations = disk.operations
    assert.ok(disk.statNow(SNAPSHOT) !== null, 'the workload makes snapshots')
    assert.ok(operations > 60, `${operations} operations`)
  })

  async function assertPrefix(
    disk: MemoryDisk,
    { acknowledged, issued }: { acknowledged: number; issued: number },
    what: string,
  ) {
    const again = await open(disk, { snapshotBytes: SNAPSHOT_BYTES })
    const found = states.indexOf(await contentOf(again))
    assert.ok(found >= acknowledged && found <= issued, `${what}: found the state after ${found} of ${acknowledged} to ${issued}`)
    // Whatever was cut, what is written now is durable, and is all there at the next start.
    const session = again.connect()
    await session.create('/after', Buffer.from(what))
    const content = await contentOf(again)
    assert.equal(await contentOf(await open(disk.crash())), content, what)
  }

  /** How much of each write that was not synced reached the platter. */
  const LOSSES: Record<string, (size: number, at: number) => number> = {
    'nothing unsynced lives': () => 0,
    'everything unsynced lives': (size) => size,
    'writes are torn in the middle': (size) => Math.floor(size / 2),
    'writes lose their last byte': (size) => size - 1,
    'some writes live, some are torn': (size, at) => (at % 3 === 0 ? size : at % 3 === 1 ? 0 : Math.floor((size * 2) / 3)),
  }
  for (const [name, kept] of Object.entries(LOSSES)) {
    it(`loses nothing acknowledged when the machine stops at any operation and ${name}`, async () => {
      for (let stopAt = 0; stopAt < operations; stopAt++) {
        const disk = new MemoryDisk()
        disk.faults = ({ number }) => {
          if (number >= stopAt) throw new Error('the machine stopped')
          return undefined
        }
        let done = { acknowledged: 0, issued: 0 }
        try {
          done = await work(await open(disk, { snapshotBytes: SNAPSHOT_BYTES }))
        } catch (error) {
          if ((error as Error).message !== 'the machine stopped') throw error // it stopped while the store was opened
        }
        let at = 0
        const keepsNames = name.includes('everything') || name.includes('some')
        const after = disk.crash(
          ({ sizeInBytes }) => kept(sizeInBytes, at++),
          () => keepsNames && at++ % 2 === 0,
        )
        await assertPrefix(after, done, `stopped at operation ${stopAt}`)
      }
    })
  }

  it('fails every waiting and later call once the disk fails, says so once, and loses nothing acknowledged', async () => {
    for (const code of ['EIO', 'ENOSPC'] as const) {
      for (let failAt = 8; failAt < operations; failAt++) {
        const disk = new MemoryDisk()
        const failures: unknown[] = []
        const store = await open(disk, { snapshotBytes: SNAPSHOT_BYTES, onFailed: (error) => failures.push(error) })
        disk.faults = ({ number }) => (number === failAt ? { fail: code } : undefined)
        const done = await work(store)
        if (done.acknowledged === WORKLOAD.length) continue
        assert.equal(failures.length, 1)
        const session = store.connect()
        await assert.rejects(session.get('/'), (error) => isStoreError(error, 'STORAGE_FAILED'))
        await assert.rejects(session.create('/x', null), (error) => isStoreError(error, 'STORAGE_FAILED'))
        await store.close()
        await assertPrefix(disk, done, `${code} at operation ${failAt}`)
      }
    }
  })

  it('goes on after writes that take only a part', async () => {
    const disk = new MemoryDisk()
    disk.faults = ({ kind, sizeInBytes }) => (kind === 'write' && sizeInBytes > 7 ? { take: 7 } : undefined)
    const done = await work(await open(disk, { snapshotBytes: SNAPSHOT_BYTES }))
    assert.equal(done.acknowledged, WORKLOAD.length)
    await assertPrefix(disk.crash(), done, 'short writes')
  })

  it('shares one sync among all writes of a turn and all that come while it runs', async () => {
    const disk = new MemoryDisk()
    const store = await open(disk)
    const session = store.connect()
    await session.create('/a', null)
    let syncs = 0
    disk.faults = ({ kind }) => {
      if (kind === 'sync') syncs++
      return undefined
    }
    await Promise.all(Array.from({ length: 100 }, () => session.set('/a', null)))
    assert.equal(syncs, 1)
  })

  it('gives no answer, and sets off no watch, before the write is durable', async () => {
    const disk = new MemoryDisk()
    const store = await open(disk)
    const session = store.connect()
    await session.create('/a', null)
    const seen: string[] = []
    disk.faults = ({ kind }) => {
      if (kind === 'sync') seen.push('sync')
      return undefined
    }
    await session.get('/a', () => seen.push('watch'))
    await Promise.all([
      session.set('/a', Buffer.from('1')).then(() => seen.push('set')),
      session.get('/a').then((node) => seen.push(`read ${node?.data?.toString()}`)),
      session.create('/a', null).catch(() => seen.push('refused')),
    ])
    assert.deepEqual(seen, ['sync', 'watch', 'set', 'read 1', 'refused'])
  })

  async function written(): Promise<MemoryDisk> {
    const disk = new MemoryDisk()
    const store = await open(disk)
    await work(store)
    await store.close()
    return disk
  }
  function change(disk: MemoryDisk, path: string, how: (bytes: Buffer) => Buffer): void {
    const bytes = how(Buffer.from(disk.readFileNow(path)))
    const file = disk.openNow(path, 'readWrite')
    file.truncateNow(0)
    file.writevNow([bytes], 0)
    file.closeNow()
  }
  const flipped = (at: number) => (bytes: Buffer) => {
    bytes[at] = bytes[at]! ^ 0x10
    return bytes
  }
  async function refuses(disk: MemoryDisk, detail: RegExp): Promise<void> {
    await assert.rejects(open(disk), (error: unknown) => {
      assert.ok(error instanceof MetadataDamageError, String(error))
      assert.match(error.message, /^\/data\/mq-metadata\.(journal|snapshot) cannot be used: /)
      assert.match(error.detail, detail)
      return true
    })
  }

  it('cuts an unfinished write at the last whole entry, and says how much', async () => {
    const disk = await written()
    const whole = disk.readFileNow(JOURNAL).length
    for (const tail of [Buffer.from([0x4d]), Buffer.alloc(FRAME.size + 30), Buffer.from('MQMF\0\0\0\x09....some')]) {
      change(disk, JOURNAL, (bytes) => Buffer.concat([bytes, tail]))
      const store = await open(disk)
      assert.equal(store.cutBytes, tail.length)
      assert.equal(disk.readFileNow(JOURNAL).length, whole)
      await store.close()
    }
  })

  it('does not start on a journal that is damaged before its end, byte by byte', async () => {
    const pristine = await written()
    const bytes = Buffer.from(pristine.readFileNow(JOURNAL))
    let last = FILE_HEADER.size
    for (let at = last; at < bytes.length; at += FRAME.size + FRAME.length.get(bytes, at)) last = at
    for (let at = 0; at < last; at++) {
      const disk = await copyOf(pristine)
      change(disk, JOURNAL, flipped(at))
      await refuses(disk, /checksum|damaged at byte|does not begin as|has format/)
    }
  })

  it('does not start on a damaged or cut snapshot, byte by byte', async () => {
    const pristine = new MemoryDisk()
    const store = await open(pristine, { snapshotBytes: 10 })
    const session = store.connect()
    for (const name of ['/a', '/b', '/c']) await session.create(name, Buffer.from(name))
    await store.close()
    const size = pristine.readFileNow(SNAPSHOT).length
    for (let at = 0; at < size; at++) {
      const flippedDisk = await copyOf(pristine)
      change(flippedDisk, SNAPSHOT, flipped(at))
      await refuses(flippedDisk, /checksum|damaged at byte|does not begin as|has format|less than its header|goes on behind/)
      const cutDisk = await copyOf(pristine)
      change(cutDisk, SNAPSHOT, (bytes) => bytes.subarray(0, at))
      await refuses(cutDisk, /damaged at byte|less than its header/)
    }
  })

  async function copyOf(disk: MemoryDisk): Promise<MemoryDisk> {
    const copy = new MemoryDisk()
    copy.makeDirectoryNow(DIRECTORY)
    for (const { name } of disk.listNow(DIRECTORY)) {
      const file = copy.openNow(`${DIRECTORY}/${name}`, 'create')
      file.writevNow([disk.readFileNow(`${DIRECTORY}/${name}`)], 0)
      file.closeNow()
    }
    return copy
  }

  it('does not take one half of its files for an empty cluster, nor halves that do not belong together', async () => {
    const disk = new MemoryDisk()
    const store = await open(disk, { snapshotBytes: 10 })
    await work(store)
    await store.close()
    const withoutJournal = await copyOf(disk)
    withoutJournal.removeNow(JOURNAL)
    await refuses(withoutJournal, /^it is missing, though mq-metadata\.snapshot beside it is there$/)
    const withoutSnapshot = await copyOf(disk)
    withoutSnapshot.removeNow(SNAPSHOT)
    await refuses(withoutSnapshot, /^it continues after transaction \d+, but the snapshot ends at 0$/)
  })

  it('does not read a format that it does not know', async () => {
    const disk = await written()
    const { crc32c } = await import('@mq/protocol')
    change(disk, JOURNAL, (bytes) => {
      FILE_HEADER.format.set(bytes, 0, 2)
      FILE_HEADER.crc.set(bytes, 0, crc32c(bytes, 0, FILE_HEADER.crc.at))
      return bytes
    })
    await refuses(disk, /^it has format 2, this version reads format 1$/)
  })

  it('knows whether it was there before, and forgets the ephemerals of the process before', async () => {
    const disk = new MemoryDisk()
    const first = await open(disk)
    assert.equal(first.origin, 'new')
    const session = first.connect()
    await session.create('/e', null, { ephemeral: true })
    const second = await open(disk.crash())
    assert.equal(second.origin, 'found')
    const next = second.connect()
    assert.equal(await next.exists('/e'), null)
    assert.notEqual(next.sessionId, session.sessionId)
  })

  it('keeps the files small: a journal is replaced when it outgrows the snapshot', async () => {
    const disk = new MemoryDisk()
    const store = await open(disk, { snapshotBytes: 5000 })
    const session = store.connect()
    await session.create('/a', null)
    for (let i = 0; i < 500; i++) await session.set('/a', Buffer.alloc(100, i))
    assert.ok(disk.statNow(JOURNAL)!.sizeInBytes < 6000)
    await store.close()
    const again = (await open(disk)).connect()
    assert.equal((await again.get('/a'))?.stat.version, 500)
  })

  it('has the layout that its table says', () => {
    assert.deepEqual([FILE_HEADER.size, FILE_HEADER.crc.at, FRAME.size, FRAME.crc.at], [20, 16, 12, 8])
  })
})
