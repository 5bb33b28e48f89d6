/**
 * The Disk contract as a test suite: run it on every implementation. Only tests load this file.
 */
import assert from 'node:assert/strict'
import { type Disk, DiskError } from './ports.js'

/** `make` gives a disk and an existing, empty folder on it. */
export function diskContract(name: string, make: () => { readonly disk: Disk; readonly folder: string }): void {
  describe(`${name} keeps the Disk contract`, () => {
    let disk: Disk
    let folder: string
    beforeEach(() => {
      ;({ disk, folder } = make())
    })
    const isMissing = (error: unknown) => error instanceof DiskError && error.code === 'ENOENT'

    it('writes slices at a position and reads them back', async () => {
      const file = disk.openNow(`${folder}/a`, 'create')
      assert.equal(file.writevNow([Buffer.from('one'), Buffer.from('two')], 0), 6)
      assert.equal(await file.writev([Buffer.from('three'), Buffer.from('!')], 6), 6)
      const into = Buffer.alloc(20)
      assert.equal(file.readNow(into, 0), 12)
      assert.equal(into.toString('latin1', 0, 12), 'onetwothree!')
      assert.equal(await file.read(into, 3), 9)
      assert.equal(into.toString('latin1', 0, 9), 'twothree!')
      assert.equal(file.sizeNow(), 12)
      file.closeNow()
    })

    it('reads zeros where nothing was written, and nothing past the end', async () => {
      const file = disk.openNow(`${folder}/sparse`, 'create')
      file.writevNow([Buffer.from('x')], 100_000)
      const into = Buffer.alloc(4, 0xff)
      assert.equal(file.readNow(into, 50_000), 4)
      assert.deepEqual([...into], [0, 0, 0, 0])
      assert.equal(await file.read(into, 100_001), 0)
      assert.equal(await file.read(into, 200_000), 0)
      file.closeNow()
    })

    it('cuts a file, and extends it by zeros', () => {
      const file = disk.openNow(`${folder}/cut`, 'create')
      file.writevNow([Buffer.from('abcdef')], 0)
      file.truncateNow(2)
      file.truncateNow(4)
      assert.deepEqual([...disk.readFileNow(`${folder}/cut`)], [97, 98, 0, 0])
      file.closeNow()
    })

    it('takes more slices than one system call does, in parts', () => {
      const file = disk.openNow(`${folder}/many`, 'create')
      const slices = Array.from({ length: 3000 }, (_, number) => Buffer.from([number & 0xff]))
      const taken = file.writevNow(slices, 0)
      assert.ok(taken > 0 && taken <= 3000)
      assert.equal(file.sizeNow(), taken)
      file.closeNow()
    })

    it('opens what exists and makes what does not only when told', () => {
      assert.throws(() => disk.openNow(`${folder}/none`, 'read'), isMissing)
      assert.throws(() => disk.openNow(`${folder}/none`, 'readWrite'), isMissing)
      disk.openNow(`${folder}/some`, 'create').closeNow()
      disk.openNow(`${folder}/some`, 'readWrite').closeNow()
      assert.throws(() => disk.readFileNow(`${folder}/none`), isMissing)
      assert.throws(() => disk.listNow(`${folder}/none`), isMissing)
      assert.equal(disk.statNow(`${folder}/none`), null)
    })

    it('lists by name, with kinds', () => {
      disk.makeDirectoryNow(`${folder}/b/deep`)
      disk.openNow(`${folder}/c`, 'create').closeNow()
      disk.openNow(`${folder}/a`, 'create').closeNow()
      assert.deepEqual(disk.listNow(folder), [
        { name: 'a', kind: 'file' },
        { name: 'b', kind: 'directory' },
        { name: 'c', kind: 'file' },
      ])
      assert.equal(disk.statNow(`${folder}/b`)?.kind, 'directory')
    })

    it('renames over an existing file, and renames folders with what they hold', () => {
      disk.openNow(`${folder}/old`, 'create').closeNow()
      const file = disk.openNow(`${folder}/new`, 'create')
      file.writevNow([Buffer.from('new')], 0)
      file.closeNow()
      disk.renameNow(`${folder}/new`, `${folder}/old`)
      assert.equal(disk.readFileNow(`${folder}/old`).toString(), 'new')
      assert.equal(disk.statNow(`${folder}/new`), null)
      disk.makeDirectoryNow(`${folder}/d`)
      disk.renameNow(`${folder}/old`, `${folder}/d/in`)
      disk.renameNow(`${folder}/d`, `${folder}/e`)
      assert.equal(disk.readFileNow(`${folder}/e/in`).toString(), 'new')
      assert.throws(() => disk.renameNow(`${folder}/gone`, `${folder}/x`), isMissing)
      disk.makeDirectoryNow(`${folder}/full/of`)
      assert.throws(() => disk.renameNow(`${folder}/e`, `${folder}/full`), DiskError)
    })

    it('removes files and whole folders, and does not mind what is not there', async () => {
      disk.makeDirectoryNow(`${folder}/d/deep`)
      disk.openNow(`${folder}/d/deep/f`, 'create').closeNow()
      await disk.remove(`${folder}/d`)
      assert.deepEqual(disk.listNow(folder), [])
      disk.openNow(`${folder}/f`, 'create').closeNow()
      disk.removeNow(`${folder}/f`)
      disk.removeNow(`${folder}/f`)
      assert.deepEqual(disk.listNow(folder), [])
    })

    it('an open file stays readable after its name is gone', () => {
      const file = disk.openNow(`${folder}/f`, 'create')
      file.writevNow([Buffer.from('still')], 0)
      disk.removeNow(`${folder}/f`)
      const into = Buffer.alloc(5)
      assert.equal(file.readNow(into, 0), 5)
      assert.equal(into.toString(), 'still')
      file.closeNow()
    })

    it('syncs files and folders, and knows how much room there is', async () => {
      const file = disk.openNow(`${folder}/f`, 'create')
      await file.dataSync()
      await disk.syncDirectory(folder)
      file.closeNow()
      const { totalBytes, usableBytes } = disk.space(folder)
      assert.ok(totalBytes >= usableBytes && usableBytes > 0)
    })
  })
}
