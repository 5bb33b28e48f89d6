import assert from 'node:assert/strict'
import { appended, batch, type Harness, harness, produce } from '../log.test.support.js'
import type { DiskOperation, Faults, MemoryDisk } from '../memory-disk.js'
import type { Lost } from '../memory-tree.js'
import { type Lie, Reached } from './machine.test.support.js'
import { run } from './run.test.support.js'
import { callersOf, isAskedBy, SYNCS } from './syncs.test.support.js'

describe('a sync that the disk only says it did', function () {
  this.timeout(600_000)

  it('is one of those in the table, whichever it is', async () => {
    const counts = new Map<string, number>()
    const unknown = new Set<string>()
    const look: Lie = (operation) => {
      if (operation.kind !== 'sync' && operation.kind !== 'syncDirectory') return false
      const callers = callersOf()
      const names = Object.entries(SYNCS).filter(([, sync]) => isAskedBy(sync, operation, callers))
      if (names.length !== 1) unknown.add(`${names.length} times: ${operation.kind} ${operation.path} by ${callers}`)
      for (const [name] of names) counts.set(name, (counts.get(name) ?? 0) + 1)
      return false
    }
    const missing = () => Object.keys(SYNCS).filter((name) => !counts.has(name))
    for (let seed = 1; seed < 8 || (missing().length > 0 && seed < 40); seed++)
      await run({ seed, steps: 60, oneIn: 40, reached: new Reached(), lie: look })
    assert.deepEqual([...unknown], [])
    assert.deepEqual(missing(), [])
  })

  for (const [name, sync] of Object.entries(SYNCS).filter(
    ([, { shown, harmless }]) => shown === undefined && harmless === undefined,
  )) {
    it(`is found: ${name}`, async () => {
      const lie: Lie = (operation) =>
        operation.kind === sync.kind && sync.path.test(operation.path) && isAskedBy(sync, operation, callersOf())
      let found = ''
      // Which seed shows it changes with every await: the search goes on where the one in the table no longer does.
      const first = sync.seed ?? 1
      let seed = first
      for (; seed < first + 200 && found === ''; seed++) {
        await run({ seed, steps: 60, oneIn: 4, reached: new Reached(), lie, where: 'after lies' }).catch((error) => {
          found = error.message
        })
      }
      if (process.env.TRACE !== undefined) console.log(`      seed ${seed - 1}: ${found.split('\n').at(-1)!.slice(0, 200)}`)
      assert.notEqual(found, '')
    })
  }

  /** The records of a log after a cut of the power that keeps writes and loses truncations and names, with the sync done or not. */
  describe('on a stage', () => {
    const isTold = (name: string) => (operation: DiskOperation) =>
      isAskedBy(SYNCS[name]!, operation, callersOf()) ? { take: 0 } : undefined
    const writesOnly = ({ sizeInBytes }: Lost) => (sizeInBytes === 1 ? 0 : sizeInBytes)
    const size = batch({ values: ['a'] }).length
    const withoutSecondBatch = (disk: MemoryDisk): MemoryDisk => {
      let batches = 0
      return disk.crash(
        ({ sizeInBytes }) => (sizeInBytes === size && batches++ === 1 ? 0 : sizeInBytes),
        () => true,
      )
    }
    const add = async (made: Harness, value: string) => appended(await produce(made.log, batch({ values: [value] })))
    const both = async (name: string, story: (lie: Faults | undefined) => Promise<number>) => [
      await story(undefined),
      await story(isTold(name)),
    ]

    it('what recovery cut off comes back', async () => {
      const ends = await both('the data that stays, after recovery cut it', async (lie) => {
        const first = await harness()
        for (const value of ['a', 'b', 'c']) await add(first, value)
        first.disk.syncDirectory('/data/t-0')
        const withoutB = withoutSecondBatch(first.disk)
        if (lie !== undefined) withoutB.faults = lie
        const second = await harness({ disk: withoutB })
        assert.equal(second.log.logEndOffset, 1)
        await add(second, 'B')
        const third = await harness({ disk: withoutB.crash(writesOnly, () => true) })
        return third.log.logEndOffset
      })
      assert.deepEqual(ends, [2, 3])
    })

    it('segments behind a hole come back', async () => {
      const ends = await both('the partition folder, after recovery removed segments', async (lie) => {
        const first = await harness()
        for (const value of ['a', 'b']) await add(first, value)
        first.disk.delays = () => new Promise(() => {})
        await first.log.roll()
        for (const value of ['c', 'd', 'e']) await add(first, value)
        const withoutB = withoutSecondBatch(first.disk)
        if (lie !== undefined) withoutB.faults = lie
        const second = await harness({ disk: withoutB })
        assert.equal(second.log.logEndOffset, 1)
        for (const value of ['B', 'C']) await add(second, value)
        const third = await harness({ disk: withoutB.crash(({ sizeInBytes }) => sizeInBytes) })
        return third.log.logEndOffset
      })
      assert.deepEqual(ends, [3, 5])
    })

    it('an index that was built again is empty', async () => {
      const found = await both('what had to be built again below the recovery point', async (lie) => {
        const made = await harness()
        appended(await produce(made.log, batch({ timestamp: made.time.now() + 1000 })))
        await made.log.roll()
        appended(await produce(made.log, batch({ timestamp: made.time.now() + 2000 })))
        await made.directories.close()
        made.disk.removeNow('/data/t-0/00000000000000000000.timeindex')
        made.disk.syncAll()
        if (lie !== undefined) made.disk.faults = lie
        await made.reopen()
        await made.directories.close()
        const again = await harness({ disk: made.disk.crash(undefined, () => true) })
        const first = await again.log.offsetForTimestamp(made.time.now() + 1000)
        return first !== null && 'offset' in first ? first.offset : -1
      })
      assert.deepEqual(found, [0, 1])
    })
  })
})
