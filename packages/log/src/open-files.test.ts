import assert from 'node:assert/strict'
import { MemoryDisk } from './memory-disk.js'
import { LazyFile, OpenFiles } from './open-files.js'

describe('open files', () => {
  it('stay within their number, except those at work', async () => {
    const disk = new MemoryDisk()
    disk.makeDirectoryNow('/d')
    const files = new OpenFiles(disk, 3)
    const all = Array.from({ length: 10 }, (_, at) => new LazyFile(files, () => `/d/${at}`))
    for (const file of all) file.now('create')
    assert.equal(files.count, 3)
    let finish = () => {}
    const busy = all[0]!.pinned(() => new Promise<void>((resolve) => (finish = resolve)))
    for (const file of all.slice(1)) file.now()
    assert.ok(files.count <= 4)
    assert.equal(all[0]!.isBusy, true)
    finish()
    await busy
    for (const file of all) file.closeNow()
    assert.equal(files.count, 0)
  })

  it('are closed only when the work on them has ended, and opened anew meanwhile', async () => {
    const disk = new MemoryDisk()
    disk.makeDirectoryNow('/d')
    const closed: string[] = []
    const openNow = disk.openNow.bind(disk)
    let opened = 0
    disk.openNow = (path, mode) => {
      const file = openNow(path, mode)
      const name = `${path} ${++opened}`
      file.closeNow = () => closed.push(name)
      return file
    }
    const file = new LazyFile(new OpenFiles(disk, 3), () => '/d/f')
    file.now('create')
    let finish = () => {}
    const work = file.pinned(() => new Promise<void>((resolve) => (finish = resolve)))
    file.closeNow()
    assert.deepEqual(closed, [])
    file.now()
    finish()
    await work
    assert.deepEqual(closed, ['/d/f 1'])
    file.closeNow()
    assert.deepEqual(closed, ['/d/f 1', '/d/f 2'])
  })

  it('make room when the system has no descriptor left', () => {
    const disk = new MemoryDisk()
    disk.makeDirectoryNow('/d')
    const files = new OpenFiles(disk, 100)
    const all = Array.from({ length: 5 }, (_, at) => new LazyFile(files, () => `/d/${at}`))
    for (const file of all.slice(0, 4)) file.now('create')
    disk.faults = ({ kind }) => (kind === 'open' && files.count > 2 ? { fail: 'EMFILE' } : undefined)
    all[4]!.now('create')
    assert.equal(files.count, 1)
  })
})
