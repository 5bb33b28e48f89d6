import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskContract } from './disk-contract.test.js'
import { isNoSync, nodeDisk } from './disk-node.js'
import { DiskError } from './ports.js'
import { MachineStopped, MemoryDisk } from './testing.js'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

diskContract('the real disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mq-disk-'))
  folders.push(folder)
  return { disk: nodeDisk, folder }
})

describe('the real disk', () => {
  it('takes it for done where Windows does not sync a folder, and no other failure, nowhere else', () => {
    assert.deepEqual(
      ['EPERM', 'EISDIR', 'EIO', undefined].map((code) => isNoSync(code, 'win32')),
      [true, true, false, false],
    )
    assert.equal(isNoSync('EPERM', 'linux'), false)
  })

  it('says so, and comes back, where a directory takes no new ones', () => {
    // /proc answers ENOENT to every new name, also where root asks; other systems have no /proc, and may refuse one.
    if (process.platform === 'linux') assert.throws(() => nodeDisk.makeDirectoryNow('/proc/mq/deep'), DiskError)
    const folder = mkdtempSync(join(tmpdir(), 'mq-disk-'))
    folders.push(folder)
    nodeDisk.openNow(`${folder}/file`, 'create').closeNow()
    assert.throws(() => nodeDisk.makeDirectoryNow(`${folder}/file`), DiskError)
    assert.throws(() => nodeDisk.makeDirectoryNow(`${folder}/file/deep`), DiskError)
    nodeDisk.makeDirectoryNow(`${folder}/a/b/c`)
    nodeDisk.makeDirectoryNow(`${folder}/a/b`) // is there already
    assert.equal(nodeDisk.statNow(`${folder}/a/b/c`)?.kind, 'directory')
  })
})

for (const durability of ['watched', 'ignored'] as const) {
  diskContract(`the memory disk (durability ${durability})`, () => {
    const disk = new MemoryDisk({ durability })
    disk.makeDirectoryNow('/folder')
    return { disk, folder: '/folder' }
  })
}

describe('the memory disk after a stop of the machine', () => {
  const make = () => {
    const disk = new MemoryDisk()
    disk.makeDirectoryNow('/d')
    disk.syncAll()
    return disk
  }

  it('has lost what was not synced, and keeps what was', async () => {
    const disk = make()
    const file = disk.openNow('/d/f', 'create')
    file.writevNow([Buffer.from('kept')], 0)
    await file.dataSync()
    await disk.syncDirectory('/d')
    file.writevNow([Buffer.from('lost')], 4)
    disk.openNow('/d/g', 'create')
    const again = disk.crash()
    assert.equal(again.readFileNow('/d/f').toString(), 'kept')
    assert.equal(again.statNow('/d/g'), null)
    assert.throws(() => disk.openNow('/d/f', 'read'), MachineStopped)
    assert.throws(() => file.writevNow([Buffer.from('x')], 0), MachineStopped)
  })

  it('tears a write where the test says so, and leaves zeros before a later write that lived', async () => {
    const disk = make()
    const file = disk.openNow('/d/f', 'create')
    await disk.syncDirectory('/d')
    file.writevNow([Buffer.from('abcd')], 0)
    file.writevNow([Buffer.from('efgh')], 4)
    const kept = [0, 2]
    const again = disk.crash(() => kept.shift()!)
    assert.deepEqual([...again.readFileNow('/d/f')], [0, 0, 0, 0, 101, 102])
  })

  it('shows either the old or the new name after a stop in the middle of a rename', async () => {
    for (const survives of [true, false]) {
      const disk = make()
      disk.openNow('/d/old', 'create').writevNow([Buffer.from('old')], 0)
      disk.syncAll()
      const fresh = disk.openNow('/d/new', 'create')
      fresh.writevNow([Buffer.from('new')], 0)
      await fresh.dataSync()
      disk.renameNow('/d/new', '/d/old')
      const again = disk.crash(undefined, () => survives)
      assert.equal(again.readFileNow('/d/old').toString(), survives ? 'new' : 'old')
    }
  })

  it('loses folders whose names were not synced, with all that is in them', async () => {
    for (const survives of [true, false]) {
      const disk = make()
      disk.makeDirectoryNow('/d/old')
      disk.openNow('/d/old/f', 'create')
      disk.syncAll()
      disk.renameNow('/d/old', '/d/new')
      disk.makeDirectoryNow('/d/made')
      disk.openNow('/d/made/g', 'create')
      await disk.syncDirectory('/d/made')
      const again = disk.crash(undefined, () => survives)
      assert.equal(again.statNow(survives ? '/d/new/f' : '/d/old/f')?.kind, 'file')
      assert.equal(again.statNow(survives ? '/d/old' : '/d/new'), null)
      assert.equal(again.statNow('/d/made/g')?.kind, survives ? 'file' : undefined)
    }
  })

  it('shows what would be left while it goes on', () => {
    const disk = make()
    const file = disk.openNow('/d/f', 'create')
    file.writevNow([Buffer.from('abcd')], 0)
    const copy = disk.afterCrash(
      () => ({ from: 2, to: 4 }),
      () => true,
    )
    assert.deepEqual([...copy.readFileNow('/d/f')], [0, 0, 99, 100])
    file.writevNow([Buffer.from('x')], 0)
    assert.equal(disk.readFileNow('/d/f').toString(), 'xbcd')
    assert.deepEqual([...copy.readFileNow('/d/f')], [0, 0, 99, 100])
  })

  it('makes durable by a slow sync only what was written before it began', async () => {
    const disk = make()
    const file = disk.openNow('/d/f', 'create')
    await disk.syncDirectory('/d')
    file.writevNow([Buffer.from('ab')], 0)
    let end = () => {}
    disk.delays = () => new Promise((resolve) => (end = resolve))
    const syncing = file.dataSync()
    file.writevNow([Buffer.from('cd')], 2)
    assert.equal(disk.afterCrash().readFileNow('/d/f').length, 0)
    end()
    await syncing
    assert.equal(disk.afterCrash().readFileNow('/d/f').toString(), 'ab')
  })

  it('fails and shortens what the fault function says', () => {
    const disk = make()
    const file = disk.openNow('/d/f', 'create')
    disk.faults = ({ kind }) => (kind === 'write' ? { take: 2 } : undefined)
    assert.equal(file.writevNow([Buffer.from('abcd')], 0), 2)
    disk.faults = ({ kind }) => (kind === 'write' ? { fail: 'ENOSPC' } : undefined)
    assert.throws(
      () => file.writevNow([Buffer.from('abcd')], 2),
      (error) => error instanceof DiskError && error.code === 'ENOSPC',
    )
    assert.equal(file.sizeNow(), 2)
  })
})
