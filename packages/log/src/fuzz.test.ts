import assert from 'node:assert/strict'
import { endTransactionMarker, iterateAnyBatches, RecordsError } from '@mq/protocol'
import { appended, batch, harness, PARTITION, produce } from './log.test.support.js'
import { MemoryDisk } from './memory-disk.js'
import type { Random } from './ports.js'
import { seededRandom } from './testing.js'

const CONFIG = { 'segment.bytes': 900, 'index.interval.bytes': 100, 'segment.index.bytes': 1024 }

/** A directory with several segments, producers, transactions, epochs. */
async function filled(): Promise<{ readonly files: Map<string, Buffer>; readonly values: string[] }> {
  const made = await harness({ config: CONFIG })
  const values: string[] = []
  for (let at = 0; at < 40; at++) {
    const transactional = at % 3 === 0
    const producer = transactional ? { producerId: 1, producerEpoch: 0, baseSequence: at / 3, transactional } : {}
    const { firstOffset } = appended(
      await produce(made.log, batch({ values: [`value ${at} ${'x'.repeat(at)}`], ...producer }), Math.floor(at / 10)),
    )
    values[firstOffset] = `value ${at} ${'x'.repeat(at)}`
    if (at % 12 !== 11) continue
    const marker = endTransactionMarker({ producerId: 1, producerEpoch: 0, commit: false, coordinatorEpoch: 0, timestamp: 1 })
    await made.log.append(marker, { origin: 'coordinator', leaderEpoch: Math.floor(at / 10) })
  }
  await made.directories.checkpointAll()
  await made.directories.close()
  const files = new Map<string, Buffer>()
  for (const folder of ['/data', '/data/t-0']) {
    for (const { name, kind } of made.disk.listNow(folder))
      if (kind === 'file') files.set(`${folder}/${name}`, made.disk.readFileNow(`${folder}/${name}`))
  }
  return { files, values }
}

function write(disk: MemoryDisk, path: string, bytes: Buffer): void {
  const file = disk.openNow(path, 'create')
  file.truncateNow(0)
  if (bytes.length > 0) file.writevNow([bytes], 0)
}

function damage(bytes: Buffer, random: Random): Buffer {
  const place = Math.floor(random.next() * bytes.length)
  const changed = Buffer.from(bytes)
  switch (Math.floor(random.next() * 6)) {
    case 0:
      if (changed.length > 0) changed[place]! ^= 1 << Math.floor(random.next() * 8)
      return changed
    case 1:
      return changed.subarray(0, place)
    case 2:
      return Buffer.concat([changed, random.bytes(Math.floor(random.next() * 100))])
    case 3:
      return Buffer.concat([changed, Buffer.alloc(Math.floor(random.next() * 2000))])
    case 4:
      return changed.fill(Math.floor(random.next() * 256), place, Math.min(changed.length, place + 40))
    default:
      return random.bytes(Math.floor(random.next() * 200))
  }
}

describe('a directory with any damage', () => {
  it('opens, serves only what was written or says that it is corrupt, and takes new records', async function () {
    this.timeout(120_000)
    const { files, values } = await filled()
    const firstSeed = Number(process.env.SEED ?? 1)
    for (let seed = firstSeed; seed < firstSeed + 200; seed++) {
      await withDamage(seed, files, values).catch((error) => {
        error.message = `SEED=${seed}: ${error.message}`
        throw error
      })
    }
  })
})

async function withDamage(seed: number, files: ReadonlyMap<string, Buffer>, values: readonly string[]): Promise<void> {
  const random = seededRandom(seed)
  const disk = new MemoryDisk({ durability: 'ignored' })
  disk.makeDirectoryNow('/data/t-0')
  const spared = ['/data/meta.properties', '/data/.lock']
  for (const [path, bytes] of files) write(disk, path, bytes)
  const paths = [...files.keys()].filter((path) => !spared.includes(path))
  for (let count = 1 + Math.floor(random.next() * 4); count > 0; count--) {
    const path = paths[Math.floor(random.next() * paths.length)]!
    if (random.next() < 0.2) disk.removeNow(path)
    else if (disk.statNow(path) !== null) write(disk, path, damage(disk.readFileNow(path), random))
  }
  const made = await harness({ disk, config: CONFIG })
  const log = made.directories.get(PARTITION)!
  assert.equal(log.isOffline, false, 'damage is no failure of the disk')
  log.updateHighWatermark(log.logEndOffset)
  // A flipped bit in the last base offset makes a log of 2^40 offsets: a look at the first ones will do.
  const end = Math.min(log.logEndOffset, log.logStartOffset + 100)
  for (let offset = log.logStartOffset; offset < end; offset++) {
    const read = await log.read(offset, { maxBytes: 500, minOneMessage: true, upTo: 'logEnd' })
    if (read.kind === 'refused') {
      assert.equal(read.error, 'CORRUPT_MESSAGE')
      continue
    }
    for (const record of soundRecords(Buffer.concat(read.slices))) {
      // The base offset of a batch is not under its CRC: a flipped bit there moves records, in Kafka's format as it is.
      assert.ok(values.includes(String(record.value)), String(record.value))
    }
  }
  for (const query of [0, 1_700_000_000_000, 2 ** 50, 'maxTimestamp', 'earliest', 'latest'] as const)
    await log.offsetForTimestamp(query)
  const { firstOffset } = appended(await produce(log, batch({ values: ['new'] }), 9))
  const read = await log.read(firstOffset, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' })
  assert.ok(read.kind === 'read' && read.sizeInBytes > 0)
  await made.directories.close()
  const again = await made.reopen()
  assert.equal(again.isOffline, false)
  assert.equal(again.logEndOffset, firstOffset + 1)
  await made.directories.close()
}

/** What a client makes of the bytes: it believes the CRC. */
function* soundRecords(bytes: Buffer) {
  try {
    for (const one of iterateAnyBatches(bytes)) {
      if (!one.crcIsValid()) return
      if (!('isControl' in one) || !one.isControl) yield* one.records()
    }
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
  }
}
