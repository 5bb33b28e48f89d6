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
})
