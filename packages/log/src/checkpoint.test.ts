import assert from 'node:assert/strict'
import fc from 'fast-check'
import { epochsToText, makeDirectory, offsetsToText, readEpochs, readOffsets, writeAtomically } from './checkpoint.js'
import { MemoryDisk } from './memory-disk.js'
import { propertyOptions } from './property-options.test.support.js'

describe('checkpoint files', () => {
  it('read back what was written, for every topic name', () => {
    const topic = fc.stringMatching(/^[a-zA-Z0-9._-]{1,30}$/)
    fc.assert(
      fc.property(fc.array(fc.tuple(topic, fc.nat(100), fc.nat())), (rows) => {
        const read = readOffsets(offsetsToText(rows))
        assert.ok(!('problem' in read))
        assert.deepEqual(read, new Map(rows.map(([name, partition, offset]) => [`${name}-${partition}`, offset])))
      }),
      propertyOptions(100),
    )
    assert.deepEqual(readEpochs(epochsToText([{ epoch: 0, startOffset: 157 }])), [{ epoch: 0, startOffset: 157 }])
    assert.equal(epochsToText([{ epoch: 0, startOffset: 157 }]).toString(), '0\n1\n0 157\n')
  })

  it('have no entries while they are empty, as a Java broker makes them', () => {
    assert.deepEqual(readOffsets(Buffer.alloc(0)), new Map())
    assert.deepEqual(readEpochs(Buffer.alloc(0)), [])
  })

  it('are the old one or the new one after a stop at any operation', async () => {
    for (let operation = 0; operation < 12; operation++) {
      const disk = new MemoryDisk()
      await makeDirectory(disk, '/d')
      await writeAtomically(disk, '/d/f', Buffer.from('old'))
      const started = disk.operations
      disk.faults = ({ number }) => {
        if (number - started >= operation) disk.stop()
        return number - started >= operation ? { fail: 'EIO' } : undefined
      }
      const written = await writeAtomically(disk, '/d/f', Buffer.from('newer')).then(
        () => true,
        () => false,
      )
      const survives = operation % 2 === 0
      const text = disk
        .crash(undefined, () => survives)
        .readFileNow('/d/f')
        .toString()
      assert.ok(text === 'newer' || (text === 'old' && !written), `${operation}: ${text}`)
    }
  })
})
