import assert from 'node:assert/strict'
import { ALONE, batch, harness, produce } from './log.test.support.js'
import { MemoryDisk } from './memory-disk.js'
import { OverlayDisk } from './overlay-disk.js'
import { DiskError } from './ports.js'
import { openReadOnly } from './read-only-log.js'
import { ManualTime, seededRandom } from './testing.js'

/** Fails at everything that would change a file or a name. */
function sealed(): MemoryDisk {
  const disk = new MemoryDisk()
  disk.makeDirectoryNow('/d')
  for (const [name, text] of [
    ['a', 'first file'],
    ['b', 'second'],
  ] as const) {
    disk.openNow(`/d/${name}`, 'create').writevNow([Buffer.from(text)], 0)
  }
  disk.faults = ({ kind }) =>
    /^(write|truncate|sync|rename|remove|mkdir|syncDirectory)$/.test(kind) ? { fail: 'EROFS' } : undefined
  return disk
}

const textOf = (disk: OverlayDisk, path: string): string => disk.readFileNow(path).toString()
const namesOf = (disk: OverlayDisk): string[] => disk.listNow('/d').map(({ name }) => name)

describe('a disk laid over another', () => {
  it('shows what is below, and what was written, cut, renamed, removed and made over it', async () => {
    const below = sealed()
    const disk = new OverlayDisk(below)
    assert.deepEqual(namesOf(disk), ['a', 'b'])
    const a = disk.openNow('/d/a', 'readWrite')
    a.truncateNow(5)
    assert.equal(textOf(disk, '/d/a'), 'first')
    assert.equal(disk.statNow('/d/a')?.sizeInBytes, 5)
    assert.equal(a.sizeNow(), 5)
    await a.writev([Buffer.from('F'), Buffer.from('I')], 0)
    assert.equal(textOf(disk, '/d/a'), 'FIrst')
    a.truncateNow(7)
    assert.equal(textOf(disk, '/d/a'), 'FIrst\0\0')
    const into = Buffer.alloc(10)
    assert.equal(await a.read(into, 3), 4)
    await a.dataSync()
    a.closeNow()
    disk.renameNow('/d/b', '/d/c')
    assert.deepEqual(namesOf(disk), ['a', 'c'])
    assert.equal(textOf(disk, '/d/c'), 'second')
    assert.equal(disk.statNow('/d/b'), null)
    disk.openNow('/d/new', 'create').writevNow([Buffer.from('x')], 2)
    assert.equal(textOf(disk, '/d/new'), '\0\0x')
    await disk.remove('/d/a')
    assert.deepEqual(namesOf(disk), ['c', 'new'])
    await disk.syncDirectory()
    assert.throws(() => disk.openNow('/d/a', 'read'), DiskError)
    assert.equal(below.readFileNow('/d/a').toString(), 'first file')
    disk.forget('/d')
    assert.deepEqual(namesOf(disk), ['a', 'b'])
    assert.equal(textOf(disk, '/d/a'), 'first file')
  })

  it('changes no folder', () => {
    const disk = new OverlayDisk(sealed())
    disk.makeDirectoryNow('/d')
    for (const change of [() => disk.makeDirectoryNow('/e'), () => disk.renameNow('/d', '/e'), () => disk.removeNow('/d')])
      assert.throws(change, (error: DiskError) => error.code === 'EROFS')
  })

  it('lets a view finish in memory the change of segments that a stop interrupted', async () => {
    const { disk, directories, log } = await harness({ config: { 'segment.bytes': 200 } })
    for (const value of ['a', 'b', 'c', 'd']) await produce(log, batch({ values: [value.repeat(80)] }))
    await directories.close()
    const first = '/data/t-0/00000000000000000000'
    for (const kind of ['log', 'index', 'timeindex']) {
      // As if the first two segments had been cleaned into one that holds the first record.
      disk.openNow(`${first}.${kind}.swap`, 'create').writevNow([disk.readFileNow(`${first}.${kind}`)], 0)
    }
    disk.openNow('/data/t-0/00000000000000000001.log.cleaned', 'create')
    disk.openNow('/data/t-0/00000000000000000002.log.deleted', 'create')
    const time = new ManualTime()
    const before = disk.listNow('/data/t-0')
    disk.faults = ({ kind }) =>
      /^(write|truncate|sync|rename|remove|mkdir|syncDirectory)$/.test(kind) ? { fail: 'EROFS' } : undefined
    const view = await openReadOnly('/data/t-0', {
      environment: { disk, clock: time, timers: time, random: seededRandom(1), processes: ALONE },
    })
    const offsets: number[] = []
    for await (const { offset } of view.records()) offsets.push(offset)
    assert.deepEqual(offsets, [0, 1, 2, 3])
    await view.close()
    assert.deepEqual(disk.listNow('/data/t-0'), before)
  })
})
