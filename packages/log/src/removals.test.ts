import assert from 'node:assert/strict'
import { MemoryDisk } from './memory-disk.js'
import { DiskError } from './ports.js'
import { Removals } from './removals.js'
import { ManualTime } from './testing.js'

const turn = () => new Promise<void>((resume) => setImmediate(resume))

async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await turn()
}

/** A disk whose removals wait until they are let go. */
function slowDisk() {
  const disk = new MemoryDisk()
  for (const folder of ['/d/a', '/d/b']) {
    disk.makeDirectoryNow(folder)
    for (const name of ['1', '2', '3']) disk.openNow(`${folder}/${name}`, 'create').closeNow()
  }
  const begun: string[] = []
  const held: (() => void)[] = []
  const remove = disk.remove.bind(disk)
  disk.remove = async (path) => {
    begun.push(path)
    await new Promise<void>((go) => held.push(go))
    return remove(path)
  }
  const letGo = async () => {
    held.shift()!()
    await turns()
  }
  return { disk, begun, letGo }
}

describe('removals', () => {
  const failures: unknown[] = []
  const failed = (error: unknown) => void failures.push(error)

  it('take one file after another, folders file by file, in the order in which their delays end', async () => {
    const { disk, begun, letGo } = slowDisk()
    const time = new ManualTime()
    const removals = new Removals(disk, time)
    removals.later({ paths: ['/d/b/1', '/d/b/2'], delayMs: 20, failed })
    removals.later({ paths: ['/d/a'], delayMs: 10, failed })
    time.advance(9)
    assert.deepEqual(begun, [])
    time.advance(11)
    for (const upTo of ['/d/a/1', '/d/a/2', '/d/a/3', '/d/a', '/d/b/1', '/d/b/2']) {
      assert.equal(begun.at(-1), upTo)
      await letGo()
    }
    assert.deepEqual([disk.statNow('/d/a'), disk.listNow('/d/b').map(({ name }) => name)], [null, ['3']])
    await removals.close()
    assert.deepEqual(failures, [])
  })

  it('can be taken back until their delay is over', () => {
    const time = new ManualTime()
    const { disk, begun } = slowDisk()
    const takeBack = new Removals(disk, time).later({ paths: ['/d/a'], delayMs: 10, failed })
    takeBack()
    time.advance(100)
    assert.deepEqual([begun, time.pendingTimers], [[], 0])
  })

  it('leave the rest for the next start when they are closed, and wait for the file that is under way', async () => {
    const { disk, begun, letGo } = slowDisk()
    const time = new ManualTime()
    const removals = new Removals(disk, time)
    removals.later({ paths: ['/d/a'], delayMs: 0, failed })
    removals.later({ paths: ['/d/b'], delayMs: 50, failed })
    time.advance(0)
    await letGo()
    let isClosed = false
    const closed = removals.close().then(() => {
      isClosed = true
    })
    await turns()
    assert.deepEqual([begun, isClosed, time.pendingTimers], [['/d/a/1', '/d/a/2'], false, 0])
    await letGo()
    await closed
    assert.deepEqual([begun.length, disk.listNow('/d/a').map(({ name }) => name)], [2, ['3']])
  })

  it('tell of a failure, and go on with the next', async () => {
    const disk = new MemoryDisk()
    for (const folder of ['/d/a', '/d/b']) disk.makeDirectoryNow(folder)
    disk.faults = ({ kind, path }) => (kind === 'remove' && path === '/d/a' ? { fail: 'EIO' } : undefined)
    const time = new ManualTime()
    const removals = new Removals(disk, time)
    const told: unknown[] = []
    removals.later({ paths: ['/d/a'], delayMs: 0, failed: (error) => told.push(error) })
    removals.later({ paths: ['/d/b'], delayMs: 0, failed })
    time.advance(0)
    await turns()
    assert.ok(told.length === 1 && told[0] instanceof DiskError)
    assert.equal(disk.statNow('/d/b'), null)
  })
})
