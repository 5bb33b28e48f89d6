import assert from 'node:assert/strict'
import { writeAtomically } from './checkpoint.js'
import { MemoryDisk } from './memory-disk.js'
import { writeAll, writeAllNow } from './write-all.js'

const SLICES = ['one', '', 'two three', 'four'].map((text) => Buffer.from(text))

describe('a write of all bytes', () => {
  const ways = {
    'at once': async (disk: MemoryDisk) => writeAllNow(disk.openNow('/file', 'create'), SLICES, 2),
    aside: (disk: MemoryDisk) => writeAll(disk.openNow('/file', 'create'), SLICES, 2),
  }
  for (const [name, write] of Object.entries(ways)) {
    it(`goes on where a short one ended, ${name}`, async () => {
      for (const most of [1, 2, 3, 5, 100]) {
        const disk = new MemoryDisk({ faults: ({ kind }) => (kind === 'write' ? { take: most } : undefined) })
        await write(disk)
        assert.equal(disk.readFileNow('/file').toString(), '\0\0onetwo threefour')
      }
    })

    it(`fails when nothing is taken, ${name}`, async () => {
      const disk = new MemoryDisk({ faults: ({ kind }) => (kind === 'write' ? { take: 0 } : undefined) })
      await assert.rejects(write(disk), { name: 'DiskError', code: 'EIO' })
    })
  }

  it('of nothing asks the disk for nothing', async () => {
    const disk = new MemoryDisk()
    const file = disk.openNow('/file', 'create')
    const before = disk.operations
    writeAllNow(file, [Buffer.alloc(0)], 0)
    await writeAll(file, [], 0)
    assert.equal(disk.operations, before)
  })

  it('of a small file fails as well when nothing is taken, instead of trying for ever', async () => {
    let writes = 0
    const faults = ({ kind }: { kind: string }) => {
      if (kind !== 'write') return undefined
      if (++writes > 9) throw new Error('it tries for ever')
      return { take: 0 }
    }
    await assert.rejects(writeAtomically(new MemoryDisk({ faults }), '/small', Buffer.from('text')), {
      name: 'DiskError',
      code: 'EIO',
    })
  })
})
