import assert from 'node:assert/strict'
import { MemoryDisk } from './memory-disk.js'
import { RecoveryProgress, unflushedBytes } from './recovery-progress.js'
import { ManualTime } from './testing.js'

const MIB = 1 << 20

function recovering(bytes: number) {
  const time = new ManualTime()
  const said: string[] = []
  const say = (fields: object, message: string) => void said.push(`${message} ${JSON.stringify(fields)}`)
  const progress = new RecoveryProgress(
    { directory: '/data', bytes, logs: 3 },
    { clock: time, logger: { info: say, warn: say, error: say } },
  )
  return { time, said, progress }
}

describe('the progress of a recovery', () => {
  it('says nothing of a short one', () => {
    const { time, said, progress } = recovering(200 * MIB)
    time.advance(2999)
    progress.scanned(200 * MIB)
    progress.ended()
    assert.deepEqual(said, [])
  })

  it('says when a long one begins, how far it is every three seconds, and when it has ended', () => {
    const { time, said, progress } = recovering(1000 * MIB)
    for (let count = 0; count < 10; count++) {
      time.advance(1000)
      progress.scanned(100 * MIB)
    }
    progress.ended()
    const whole = `"ofBytes":${1000 * MIB}`
    assert.deepEqual(said, [
      `recovering after a stop that was not clean: 0 % {"directory":"/data","logs":3,"bytes":0,${whole},"percent":0}`,
      `recovering: 30 % {"directory":"/data","logs":3,"bytes":${300 * MIB},${whole},"percent":30}`,
      `recovering: 60 % {"directory":"/data","logs":3,"bytes":${600 * MIB},${whole},"percent":60}`,
      `recovering: 90 % {"directory":"/data","logs":3,"bytes":${900 * MIB},${whole},"percent":90}`,
      `recovered: 100 % {"directory":"/data","logs":3,"bytes":${1000 * MIB},${whole},"percent":100,"ms":10000}`,
    ])
  })

  it('never says more than all, when damage makes more be scanned than was foreseen', () => {
    const { time, said, progress } = recovering(MIB)
    time.advance(5000)
    progress.scanned(4 * MIB)
    progress.ended()
    assert.ok(said.length === 2 && said.every((line) => line.includes('100 %')))
  })
})

describe('what a recovery has to scan', () => {
  it('begins with the segment that holds the recovery point, and is data files alone', () => {
    const disk = new MemoryDisk()
    disk.makeDirectoryNow('/d/t-0')
    const sizes = { '00000000000000000000.log': 10, '00000000000000000050.log': 200, '00000000000000000090.log': 3000 }
    const others = { '00000000000000000050.index': 7, '00000000000000000010.log.deleted': 7, 'leader-epoch-checkpoint': 7 }
    for (const [name, size] of Object.entries({ ...sizes, ...others })) {
      const file = disk.openNow(`/d/t-0/${name}`, 'create')
      file.writevNow([Buffer.alloc(size)], 0)
      file.closeNow()
    }
    assert.equal(unflushedBytes(disk, '/d/t-0', 0), 3210)
    assert.equal(unflushedBytes(disk, '/d/t-0', 89), 3200)
    assert.equal(unflushedBytes(disk, '/d/t-0', 90), 3000)
    assert.equal(unflushedBytes(disk, '/d/t-0', 5000), 3000)
  })
})
