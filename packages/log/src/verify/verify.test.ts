import assert from 'node:assert/strict'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { iterateAnyBatches } from '@mq/protocol'
import { vectors } from '../../../../conformance/index.js'
import { clean, compacted, end, put } from '../cleaner.test.support.js'
import { nodeDisk, nodeProcesses } from '../disk-node.js'
import { ALONE } from '../log.test.support.js'
import { BrokerLogDirectories } from '../log-directories.js'
import { openLog, openLogDirectory } from '../open-log.js'
import { ManualTime, seededRandom } from '../testing.js'
import { DEFAULT_TOPIC_CONFIG } from '../topic-config.js'
import type { Finding, Verified } from './finding.js'
import { type VerifyOptions, verifyLogs } from './verify.js'

const SEED = Number(process.env.SEED ?? 20_261_130)

type Datadir = ReturnType<typeof vectors.extractDatadir>

interface Damage {
  readonly partition: string | null
  readonly file: string
}

async function verified(path: string, options: VerifyOptions = {}): Promise<Verified & { readonly findings: Finding[] }> {
  const findings: Finding[] = []
  const result = await verifyLogs(path, { ...options, report: (finding) => findings.push(finding) })
  assert.equal(result.problems, findings.filter(({ level }) => level === 'problem').length)
  return { ...result, findings }
}

const problemsOf = ({ findings }: { readonly findings: readonly Finding[] }): Finding[] =>
  findings.filter(({ level }) => level === 'problem')

/** A broker's start on the directory, with the configs that its topics had; and its stop. */
async function startAndStop(logs: string): Promise<void> {
  const time = new ManualTime(Date.UTC(2026, 10, 29, 21))
  const directories = await BrokerLogDirectories.open({
    dirs: [logs],
    disk: nodeDisk,
    clock: time,
    timers: time,
    random: seededRandom(1),
    processes: nodeProcesses,
    config: { 'producer.id.expiration.ms': 2 ** 60 },
    brokerId: 1,
    topicConfig: () => ({ ...DEFAULT_TOPIC_CONFIG, 'retention.ms': -1, 'index.interval.bytes': 256 }),
  })
  await directories.close()
}

describe('verifying the data directories that Apache Kafka wrote', function () {
  this.timeout(30_000)
  let folder: Datadir
  afterEach(() => folder.remove())

  for (const [variant, batches] of [
    ['main/clean', 510],
    ['main/sigkill', 580],
    ['old-formats/clean', 405],
  ] as const) {
    it(`finds nothing wrong in ${variant}, and looks at every batch`, async () => {
      folder = vectors.extractDatadir(variant)
      const before = readdirSync(folder.logs, { recursive: true }).sort()
      let done = 0
      let all = 0
      const result = await verified(folder.logs, {
        progress: (bytes, of) => {
          done = bytes
          all = of
        },
      })
      assert.deepEqual(problemsOf(result), [])
      const { partitions } = vectors.json<{ partitions: object }>(`datadirs/${variant}.expected.json`)
      assert.equal(result.partitions, Object.keys(partitions).length)
      assert.equal(result.batches, batches)
      assert.equal(done, result.sizeInBytes)
      assert.equal(all, result.sizeInBytes)
      assert.deepEqual(readdirSync(folder.logs, { recursive: true }).sort(), before)
    })
  }

  for (const variant of ['main/damaged', 'main/no-checkpoints', 'main/indexes-removed']) {
    it(`names every damage that was done to ${variant}`, async () => {
      folder = vectors.extractDatadir(variant)
      const { damages } = vectors.json<{ damages: readonly Damage[] }>(`datadirs/${variant}.expected.json`)
      const { findings } = await verified(folder.logs)
      const named = new Set(findings.map(({ file }) => file.split('/').pop()!).concat(findings.map(({ file }) => file)))
      const missed = damages.filter(({ partition, file }) => {
        // A folder that waits to be removed is not looked into.
        if (partition?.endsWith('-delete')) return !named.has(partition)
        return !named.has(partition === null ? file : `${partition}/${file}`)
      })
      assert.deepEqual(missed, [])
      assert.ok(damages.length > 5)
    })

    it(`says of ${variant} what a start does, and nothing is wrong after it`, async () => {
      folder = vectors.extractDatadir(variant)
      const { findings } = await verified(folder.logs)
      await startAndStop(folder.logs)
      let checked = 0
      for (const { file, position, atStart } of findings) {
        const path = join(folder.logs, file)
        if (atStart === 'removes it' && !file.endsWith('-delete')) assert.ok(!existsSync(path), file)
        else if (/^builds it again/.test(atStart)) assert.ok(existsSync(path), file)
        else if (/cuts (the segment|it) at byte/.test(atStart)) assert.equal(statSync(path).size, position, file)
        else continue
        checked++
      }
      assert.ok(checked > 0)
      assert.deepEqual(
        problemsOf(await verified(folder.logs)).filter(({ atStart }) => !atStart.startsWith('nothing')),
        [],
      )
    })
  }

  it('gives the places of what was damaged by hand', async () => {
    folder = vectors.extractDatadir('main/damaged')
    const { findings } = await verified(folder.logs)
    const at = (file: string) =>
      findings.filter((finding) => finding.file === file).map(({ position, problem, atStart }) => [position, problem, atStart])
    assert.deepEqual(at('plain-0/00000000000000000228.log'), [
      [1291, '100 bytes that are no batch', 'cuts the segment at byte 1291'],
    ])
    assert.deepEqual(at('plain-1/00000000000000000237.log'), [
      [5462, 'a batch of 624 bytes, of which 587 are there', 'cuts the segment at byte 5462'],
    ])
    assert.deepEqual(at('plain-2/00000000000000000329.log'), [[0, 'the CRC does not match', 'cuts the segment at byte 0']])
    assert.deepEqual(at('logappend-0/00000000000000000000.log'), [
      [5118, '1000 bytes that are no batch: zeros', 'cuts the segment at byte 5118'],
    ])
    assert.deepEqual(at('txn-1/00000000000000000087.txnindex'), [
      [undefined, 'size 77 is no multiple of 34', 'scans the segment and builds its indexes again'],
    ])
  })

  it('takes the folder of a partition, and one segment', async () => {
    folder = vectors.extractDatadir('main/clean')
    const partition = await verified(join(folder.logs, 'txn-0'))
    assert.deepEqual([partition.partitions, partition.segments, partition.problems], [1, 5, 0])
    const segment = await verified(join(folder.logs, 'txn-0', '00000000000000000098.log'))
    assert.deepEqual([segment.segments, segment.problems, segment.sizeInBytes], [1, 0, 4069])
    await assert.rejects(verifyLogs(join(folder.logs, 'txn-0', '00000000000000000098.index')), TypeError)
    await assert.rejects(verifyLogs(join(folder.logs, 'nothing')), /no such file or directory/)
  })

  it('notices any flipped bit that a checksum covers, at its batch', async () => {
    folder = vectors.extractDatadir('main/clean')
    const random = seededRandom(11)
    for (const name of [
      'plain-0/00000000000000000117.log',
      'comp-zstd-0/00000000000000000000.log',
      'txn-0/00000000000000000022.log',
    ]) {
      const path = join(folder.logs, name)
      const bytes = readFileSync(path)
      const starts: number[] = []
      let position = 0
      for (const batch of iterateAnyBatches(bytes)) {
        starts.push(position)
        position += batch.sizeInBytes
      }
      for (let round = 0; round < 20; round++) {
        const which = Math.floor(random.next() * starts.length)
        const end = starts[which + 1] ?? bytes.length
        const at = starts[which]! + 17 + Math.floor(random.next() * (end - starts[which]! - 17))
        const flipped = Buffer.from(bytes)
        flipped[at]! ^= 1 << Math.floor(random.next() * 8)
        writeFileSync(path, flipped)
        const { findings } = await verified(path)
        assert.ok(
          findings.some(({ level, file, position }) => level === 'problem' && file === name && position === starts[which]),
          `${name}, byte ${at}`,
        )
      }
      writeFileSync(path, bytes)
    }
  })

  /** What is done to a clean directory, and what must be told of it: file, and a part of the problem. */
  const DAMAGES: readonly (readonly [
    name: string,
    damage: (logs: string) => void,
    file: string,
    problem: RegExp,
    atStart: RegExp,
  ])[] = [
    [
      'an offset index that points between batches',
      (logs) => poke(join(logs, 'plain-0/00000000000000000117.index'), 15, 1),
      'plain-0/00000000000000000117.index',
      /^entry 1: no batch begins at position/,
      /^nothing; the index is built again when a read/,
    ],
    [
      'an offset index with an offset at which no batch ends',
      (logs) => poke(join(logs, 'plain-0/00000000000000000117.index'), 11, 1),
      'plain-0/00000000000000000117.index',
      /^entry 1: no batch ends with offset/,
      /^nothing; the index is built again when a read/,
    ],
    [
      'a time index that lost its last entry',
      (logs) => truncateSync(join(logs, 'plain-0/00000000000000000117.timeindex'), 132),
      'plain-0/00000000000000000117.timeindex',
      /^the last entry has time \d+, the segment's largest is/,
      /^nothing: searches by time/,
    ],
    [
      'a time index with a wrong time',
      (logs) => poke(join(logs, 'plain-0/00000000000000000117.timeindex'), 12 + 7, 1),
      'plain-0/00000000000000000117.timeindex',
      /^entry 1: /,
      /^nothing: searches by time/,
    ],
    [
      'a transaction index of another producer',
      (logs) => poke(join(logs, 'txn-0/00000000000000000022.txnindex'), 9, 64),
      'txn-0/00000000000000000022.txnindex',
      /^entry 0: producer \d+, the marker is of \d+/,
      /^nothing: readers of committed records/,
    ],
    [
      'a transaction index that misses one',
      (logs) => {
        const path = join(logs, 'txn-0/00000000000000000098.txnindex')
        writeFileSync(path, readFileSync(path).subarray(34))
      },
      'txn-0/00000000000000000098.txnindex',
      /^no entry for the transaction of producer 2 from offset 107 on, aborted at 112/,
      /^nothing: readers of committed records/,
    ],
    [
      'a transaction that was never aborted',
      (logs) =>
        copyFileSync(join(logs, 'txn-0/00000000000000000098.txnindex'), join(logs, 'txn-0/00000000000000000091.txnindex')),
      'txn-0/00000000000000000091.txnindex',
      /^entry 0: there is no abort marker at offset 112/,
      /^nothing: readers of committed records/,
    ],
    [
      'a snapshot with a flipped bit',
      (logs) => poke(join(logs, 'idem-0/00000000000000000151.snapshot'), 40, 1),
      'idem-0/00000000000000000151.snapshot',
      /^CRC does not match/,
      /^drops it/,
    ],
    [
      'a snapshot of an older state',
      (logs) =>
        copyFileSync(join(logs, 'idem-0/00000000000000000143.snapshot'), join(logs, 'idem-0/00000000000000000151.snapshot')),
      'idem-0/00000000000000000151.snapshot',
      /^producer \d+ has last sequence \d+, the log says \d+/,
      /^takes it for true/,
    ],
    [
      'leader epochs that the batches do not have',
      (logs) => writeFileSync(join(logs, 'plain-0/leader-epoch-checkpoint'), '0\n2\n0 0\n1 200\n'),
      'plain-0/leader-epoch-checkpoint',
      /^it has epoch 1 for offset \d+, the batch at byte \d+ of segment 117 has epoch 0/,
      /^nothing/,
    ],
    [
      'the topic id of another topic',
      (logs) => copyFileSync(join(logs, 'txn-0/partition.metadata'), join(logs, 'plain-1/partition.metadata')),
      'plain-1/partition.metadata',
      /^topic id \S+, plain-0 has \S+/,
      /^takes one of the two/,
    ],
    [
      'a broken partition.metadata',
      (logs) => truncateSync(join(logs, 'plain-0/partition.metadata'), 20),
      'plain-0/partition.metadata',
      /^malformed/,
      /^takes the partition for one without/,
    ],
    [
      'a torn checkpoint',
      (logs) => truncateSync(join(logs, 'recovery-point-offset-checkpoint'), 100),
      'recovery-point-offset-checkpoint',
      /^no end of line|^says 27 entries/,
      /^takes 0/,
    ],
    [
      'a recovery point beyond the end',
      (logs) => rewrite(join(logs, 'recovery-point-offset-checkpoint'), 'plain 0 244', 'plain 0 999'),
      'recovery-point-offset-checkpoint',
      /^plain-0 has 999, its log ends at 244/,
      /^takes the log's end/,
    ],
    [
      'a log start beyond the end',
      (logs) => rewrite(join(logs, 'log-start-offset-checkpoint'), 'deleted-records 0 157', 'deleted-records 0 999'),
      'deleted-records-0',
      /^the log ends at 300, before its start offset 999/,
      /^removes all segments/,
    ],
    [
      'a meta.properties of KRaft',
      (logs) => rewrite(join(logs, 'meta.properties'), 'version=0', 'version=1'),
      'meta.properties',
      /^version 1/,
      /^refuses to start/,
    ],
    [
      'damage in a segment that a clean start does not scan',
      (logs) => poke(join(logs, 'plain-0/00000000000000000000.log'), 100, 1),
      'plain-0/00000000000000000000.log',
      /^the CRC does not match/,
      /^nothing: a start does not scan it/,
    ],
    [
      'bytes that are no batch at the end, also after a clean stop',
      (logs) => appendFileSync(join(logs, 'plain-0/00000000000000000228.log'), 'what?'),
      'plain-0/00000000000000000228.log',
      /^5 bytes that are no batch/,
      /^scans the segment and cuts it at byte 1291/,
    ],
    [
      'a segment that reaches into the next',
      (logs) => {
        for (const kind of ['log', 'index', 'timeindex'])
          renameSync(join(logs, `plain-0/00000000000000000228.${kind}`), join(logs, `plain-0/00000000000000000220.${kind}`))
      },
      'plain-0/00000000000000000117.log',
      /^it reaches offset 227, the next segment begins at 220/,
      /^nothing/,
    ],
    [
      'an index without its segment',
      (logs) => writeFileSync(join(logs, 'plain-0/00000000000000000500.index'), ''),
      'plain-0/00000000000000000500.index',
      /^an index without its segment/,
      /^removes it/,
    ],
  ]

  for (const [name, damage, file, problem, atStart] of DAMAGES) {
    it(`tells of ${name}`, async () => {
      folder = vectors.extractDatadir('main/clean')
      damage(folder.logs)
      const problems = problemsOf(await verified(folder.logs))
      assert.ok(
        problems.some((found) => found.file === file && problem.test(found.problem) && atStart.test(found.atStart)),
        JSON.stringify(problems, null, 1),
      )
    })
  }
})

describe('verifying a directory of our own', function () {
  this.timeout(30_000)
  let folder: Datadir
  beforeEach(() => {
    folder = vectors.extractDatadir('old-formats/clean')
    rmSync(folder.logs, { recursive: true })
  })
  afterEach(() => folder.remove())

  it('finds nothing wrong after a clean stop, with many segments and indexes', async () => {
    const directory = await openLogDirectory(folder.logs, { config: { 'segment.bytes': 5_000, 'index.interval.bytes': 500 } })
    const log = await directory.open({ topic: 'orders', partition: 0 })
    for (let at = 0; at < 300; at++)
      await log.append({ value: 'v'.repeat(at), timestamp: 1_700_000_000_000 + ((at * 7919) % 1000) })
    await directory.close()
    const result = await verified(folder.logs, { indexIntervalBytes: 500 })
    assert.deepEqual(problemsOf(result), [])
    assert.deepEqual([result.partitions, result.batches], [1, 300])
    assert.ok(result.segments > 10)
  })

  it(`finds nothing wrong in what the log wrote, whatever it did (seed ${SEED})`, async () => {
    const random = seededRandom(SEED)
    const pick = (count: number): number => Math.floor(random.next() * count)
    let cleaned = 0
    for (let round = 0; round < 15; round++) {
      const made = await compacted({
        config: {
          'cleanup.policy': round % 2 === 0 ? ['compact'] : ['delete'],
          'segment.bytes': 600,
          'index.interval.bytes': 100,
          'delete.retention.ms': 0,
        },
      })
      const sequences = [0, 0, 0]
      const open = new Set<number>()
      const did: number[] = []
      for (let step = 0; step < 80; step++) {
        const operation = pick(12)
        const producerId = pick(3)
        did.push(operation)
        made.time.advance(1 + pick(2000))
        if (operation < 4) await put(made, `k${pick(6)}=v${step}${'.'.repeat(pick(60))}`)
        else if (operation < 7) {
          const options = { producerId, producerEpoch: 0, baseSequence: sequences[producerId]!, transactional: true }
          await put(made, `k${pick(6)}=t${step} k${pick(6)}`, options)
          sequences[producerId]! += 2
          open.add(producerId)
        } else if (operation < 9 && open.delete(producerId)) await end(made, producerId, pick(2) === 0 ? 'abort' : 'commit')
        else if (operation === 9) await made.log.roll()
        else if (operation === 10 && round % 2 === 0) cleaned += await clean(made)
        else if (operation === 10) {
          await made.log.deleteRecordsBefore(made.log.logStartOffset + pick(4))
          await made.log.applyRetention()
        } else if (operation === 11 && pick(4) === 0) {
          await made.directories.close()
          await made.reopen()
          made.log.updateHighWatermark(made.log.logEndOffset)
        }
      }
      made.time.advance(100_000)
      await made.directories.close()
      const result = await verified('/data', { environment: { disk: made.disk, processes: ALONE }, indexIntervalBytes: 100 })
      assert.deepEqual(problemsOf(result), [], `seed ${SEED}, round ${round}: ${did.join(' ')}`)
      assert.ok(result.batches > 10)
    }
    assert.ok(cleaned > 0)
  })

  it('takes what a running broker has not written yet for no problem', async () => {
    const log = await openLog(folder.logs)
    for (let at = 0; at < 100; at++) await log.append({ value: 'v'.repeat(1000) })
    appendFileSync(join(log.path, '00000000000000000000.log'), Buffer.alloc(50, 1))
    const running = await verified(folder.logs)
    assert.ok(
      running.findings.some(({ file, problem }) => file === '.lock' && /in use by another broker in this process/.test(problem)),
    )
    assert.deepEqual(problemsOf(running), [])
    assert.ok(running.findings.some(({ level, problem }) => level === 'note' && /the broker may be writing it/.test(problem)))
    await log.close()
  })

  it('looks again at what the broker changed meanwhile', async () => {
    const made = await compacted()
    await put(made, 'a=1')
    await made.log.roll()
    await put(made, 'a=2')
    const [index, gone] = ['/data/t-0/00000000000000000000.timeindex', '/data/t-0/00000000000000000000.timeindex.swap']
    const { disk } = made
    const list = disk.listNow.bind(disk)
    // As if the list had been made between two renames of the cleaner.
    disk.renameNow(index, gone)
    let lists = 0
    disk.listNow = (folder) => {
      if (folder === '/data/t-0' && ++lists === 4) disk.renameNow(gone, index)
      return list(folder)
    }
    const looked = await verified('/data', { environment: { disk, processes: { ...ALONE, holdsAdvisoryLock: () => true } } })
    assert.deepEqual(problemsOf(looked), [])
    assert.ok(lists > 4)
    disk.renameNow(index, gone)
    const still = await verified('/data', { environment: { disk, processes: ALONE } })
    assert.deepEqual(
      problemsOf(still).map(({ problem }) => problem),
      ['there is no time index'],
    )
    await made.directories.abandon()
  })

  it('notes a long stretch without an index entry', async () => {
    const log = await openLog(folder.logs)
    for (let at = 0; at < 40; at++) await log.append({ value: 'v'.repeat(100_000) })
    await log.close()
    const path = join(folder.logs, 'log-0', '00000000000000000000.index')
    assert.deepEqual(
      (await verified(folder.logs)).findings.filter(({ file }) => file.endsWith('.index')),
      [],
    )
    truncateSync(path, 16)
    const { findings } = await verified(folder.logs)
    assert.match(
      findings.find(({ file }) => file.endsWith('.index'))!.problem,
      /^no entry for \d+ bytes of data from byte 200\d+ on/,
    )
  })

  it('ends by its signal', async () => {
    const log = await openLog(folder.logs)
    await log.append({ value: 'a' })
    await log.close()
    await assert.rejects(verifyLogs(folder.logs, { signal: AbortSignal.abort(new Error('enough')) }), /enough/)
  })
})

function poke(path: string, at: number, bits: number): void {
  const bytes = readFileSync(path)
  bytes[at]! ^= bits
  writeFileSync(path, bytes)
}

function rewrite(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  assert.ok(text.includes(from), `${path}: ${text}`)
  writeFileSync(path, text.replace(from, to))
}
