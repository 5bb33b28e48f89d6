/**
 * Adoption as a whole broker does it, on directories that Apache Kafka 3.9.1 wrote. The clock stands in the year after these were made:
 * whatever a broker might think too old is too old.
 */
import assert from 'node:assert/strict'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BatchBuilder, ZERO_UUID } from '@mq/protocol'
import { vectors } from '../../../../conformance/index.js'
import { type RunningBroker, startBroker } from '../start-broker.js'
import { RawClient } from '../testing/raw-client.js'
import { IDS_OF_ANOTHER_STORE } from './producer-ids.js'

interface Expected {
  readonly clusterId: string
  readonly partitions: Record<
    string,
    { topic: string; partition: number; topicId: string; logStartOffset: number; logEndOffset: number }
  >
}

/** Time that only moves when told; timers fire in order. */
class Time {
  wall = Date.UTC(2027, 10, 1)
  mono = 0
  #timers: { at: number; fire: () => void }[] = []
  readonly clock = { now: () => this.wall, monotonic: () => this.mono }
  readonly timers = {
    after: (ms: number, fire: () => void) => {
      const timer = { at: this.mono + ms, fire }
      this.#timers.push(timer)
      return () => {
        this.#timers = this.#timers.filter((each) => each !== timer)
      }
    },
  }
  async advance(ms: number): Promise<void> {
    const end = this.mono + ms
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter((each) => each !== next)
      this.wall += Math.max(0, next.at - this.mono)
      this.mono = Math.max(this.mono, next.at)
      next.fire()
      for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate) // what it began ends before time moves on
    }
    this.wall += end - this.mono
    this.mono = end
  }
}

const RETENTION_PASS_MS = 3000
/** A pass each second, and no other work on the way. */
const PASSES = {
  'log.initial.task.delay.ms': '1000',
  'log.retention.check.interval.ms': '1000',
  'replica.high.watermark.checkpoint.interval.ms': '1000000000',
}
/** COORDINATOR_LOAD_IN_PROGRESS */
const LOADING = 14
const EARLIEST = -2
const LATEST = -1

describe('adoption of a directory that Java wrote', function () {
  this.timeout(20_000)
  const expected = vectors.json<Expected>('datadirs/main/clean.expected.json')
  const names = Object.keys(expected.partitions)
  let pristine: ReturnType<typeof vectors.extractDatadir>
  let logs: string
  let remove: () => void
  let time: Time
  let lines: string[]
  let running: RunningBroker | null = null
  let client: RawClient | null = null

  before(() => {
    pristine = vectors.extractDatadir('main/clean')
  })
  after(() => pristine.remove())
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'mq-adoption-'))
    logs = join(folder, 'logs')
    cpSync(pristine.logs, logs, { recursive: true, preserveTimestamps: true })
    remove = () => rmSync(folder, { recursive: true, force: true })
    time = new Time()
  })
  afterEach(async () => {
    await stop()
    remove()
  })

  async function start(configs: Record<string, string> = {}): Promise<RawClient> {
    await stop()
    lines = []
    const keep = (_: object, line: string) => lines.push(line)
    const log = { debug() {}, info() {}, warn: keep, error: keep }
    running = await startBroker({
      directory: logs,
      configs: { ...PASSES, ...configs },
      environment: { clock: time.clock, timers: time.timers },
      log,
    })
    client = await RawClient.connect(running.port)
    return client
  }
  async function stop(): Promise<void> {
    client?.socket.destroy()
    let isClosed = running === null
    const closing = running?.close().finally(() => {
      isClosed = true
    })
    for (let turns = 1; !isClosed; turns++) {
      await new Promise(setImmediate)
      if (turns % 500 === 0) await time.advance(100) // it waits for a limit of its own
    }
    await closing
    running = null
  }
  /** What a stop without any order leaves: no mark of a clean one. */
  const loseCleanMark = () => rmSync(join(logs, '.kafka_cleanshutdown'), { force: true })
  const loseMetadata = () => {
    for (const name of readdirSync(logs)) if (name.startsWith('mq-metadata.')) unlinkSync(join(logs, name))
  }

  async function topics() {
    const { topics } = await client!.ask('Metadata', 12, { topics: null })
    return new Map(topics.map((topic) => [topic.name!, topic]))
  }
  async function partition(topic: string, index: number) {
    return (await topics()).get(topic)?.partitions.find(({ partitionIndex }) => partitionIndex === index)
  }
  async function offsets(timestamp: number): Promise<Map<string, number>> {
    const asked = [...(await topics()).values()].map(({ name, partitions }) => ({
      name: name!,
      partitions: partitions
        .filter(({ errorCode }) => errorCode === 0)
        .map(({ partitionIndex }) => ({ partitionIndex, timestamp, currentLeaderEpoch: -1 })),
    }))
    const answer = await client!.ask('ListOffsets', 7, { replicaId: -1, isolationLevel: 0, topics: asked })
    return new Map(
      answer.topics.flatMap(({ name, partitions }) =>
        partitions.map((each) => [`${name}-${each.partitionIndex}`, each.offset] as const),
      ),
    )
  }
  async function nothingIsLost(but: readonly string[] = []): Promise<void> {
    const [starts, ends] = [await offsets(EARLIEST), await offsets(LATEST)]
    for (const name of names) {
      if (but.includes(expected.partitions[name]!.topic)) continue
      const { topic, logStartOffset, logEndOffset } = expected.partitions[name]!
      // A group whose members of then are gone gets a record that says so.
      const grown = topic === '__consumer_offsets' && ends.get(name)! > logEndOffset
      assert.deepEqual([name, starts.get(name), grown ? logEndOffset : ends.get(name)], [name, logStartOffset, logEndOffset])
    }
  }
  /** At least one whole pass over all logs: the pass that comes by a topic of ours for the second time has begun since. */
  async function retentionPass(): Promise<void> {
    const name = 'canary'
    const configs = [{ name: 'retention.ms', value: '1' }]
    const topics = [{ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs }]
    await client!.ask('CreateTopics', 5, { topics, timeoutMs: 1000, validateOnly: false })
    for (let times = 0; times < 2; times++) {
      await produce(name, new BatchBuilder({}))
      const end = (await offsets(LATEST)).get(`${name}-0`)
      for (let tries = 0; (await offsets(EARLIEST)).get(`${name}-0`) !== end; tries++) {
        assert.ok(tries < 100, 'the pass does not end')
        await time.advance(RETENTION_PASS_MS)
      }
    }
  }
  async function produce(topic: string, batch: BatchBuilder): Promise<void> {
    batch.tryAppend({ timestamp: time.wall, key: null, value: Buffer.from('v'), headers: [] })
    const topicData = [{ name: topic, partitionData: [{ index: 0, records: batch.build() }] }]
    const produced = await client!.ask('Produce', 9, { transactionalId: null, acks: -1, timeoutMs: 1000, topicData })
    assert.equal(produced.responses[0]?.partitionResponses[0]?.errorCode, 0)
  }
  async function alter(topic: string, name: string, value: string): Promise<void> {
    const configs = [{ name, configOperation: 0, value }]
    const answer = await client!.ask('IncrementalAlterConfigs', 1, {
      resources: [{ resourceType: 2, resourceName: topic, configs }],
      validateOnly: false,
    })
    assert.equal(answer.responses[0]?.errorCode, 0)
  }
  async function nextProducerId(): Promise<number> {
    const { errorCode, producerId } = await client!.ask('InitProducerId', 4, {
      transactionalId: null,
      transactionTimeoutMs: 0,
      producerId: -1,
      producerEpoch: -1,
    })
    assert.equal(errorCode, 0)
    return producerId
  }

  it('takes broker, cluster, topics and ids from the files, and says so in one line', async () => {
    await start()
    assert.deepEqual([running?.brokerId, running?.clusterId], [1, expected.clusterId])
    const found = await topics()
    const wanted = new Map(Object.values(expected.partitions).map(({ topic, topicId }) => [topic, topicId]))
    assert.deepEqual([...found.keys()].sort(), [...wanted.keys()].sort())
    for (const [name, topicId] of wanted) assert.equal(found.get(name)?.topicId, topicId, name)
    const adopted = lines.filter((line) => line.includes('adopted'))
    assert.equal(adopted.length, 1)
    assert.match(adopted[0]!, /^adopted 17 topics \(27 partitions\) from .*: no metadata of ours was there\./)
    await nothingIsLost()
  })

  it('deletes nothing of it, however old, until an alter names a retention config: then only of that topic', async () => {
    await start()
    await retentionPass()
    await nothingIsLost()
    await alter('plain', 'segment.bytes', '1000000')
    await retentionPass()
    await nothingIsLost()
    await start() // the hold is not forgotten
    await retentionPass()
    await nothingIsLost()
    await alter('plain', 'retention.ms', '3600000')
    await retentionPass()
    await nothingIsLost(['plain'])
    const starts = await offsets(EARLIEST)
    for (const name of ['plain-0', 'plain-1', 'plain-2']) assert.equal(starts.get(name), expected.partitions[name]!.logEndOffset)
  })

  it('says nothing at the next start, and keeps the leader epochs after a clean stop', async () => {
    await start()
    const before = (await partition('plain', 0))?.leaderEpoch
    await start()
    assert.deepEqual(lines, [])
    assert.equal((await partition('plain', 0))?.leaderEpoch, before)
    loseCleanMark()
    await stop()
    loseCleanMark()
    await start()
    assert.equal((await partition('plain', 0))?.leaderEpoch, before! + 1)
  })

  it('keeps the number of partitions that an internal topic has, whatever the config says', async () => {
    await start({ 'offsets.topic.num.partitions': '50' })
    assert.equal((await topics()).get('__consumer_offsets')?.partitions.length, 3)
    const { coordinators } = await client!.ask('FindCoordinator', 4, { keyType: 0, coordinatorKeys: ['g1'] })
    assert.deepEqual([coordinators[0]?.errorCode, coordinators[0]?.nodeId], [0, 1])
  })

  it('gives no leader to partitions missing in between, and makes no folder for them', async () => {
    renameSync(join(logs, 'plain-1'), join(logs, 'plain-4'))
    for (let round = 0; round < 2; round++) {
      await start()
      const plain = (await topics()).get('plain')?.partitions ?? []
      assert.deepEqual(
        plain.map(({ leaderId, errorCode }) => [leaderId, errorCode]),
        [
          [1, 0],
          [-1, 5],
          [1, 0],
          [-1, 5],
          [1, 0],
        ],
      )
      assert.ok(!existsSync(join(logs, 'plain-1')) && !existsSync(join(logs, 'plain-3')))
      assert.ok(
        lines.some((line) => line === 'plain: partitions 1, 3 are offline: their folders are missing in the log directories'),
      )
    }
  })

  it('takes folders on their way out or in for no topics', async () => {
    const id = '0123456789abcdef0123456789abcdef'
    for (const name of [`gone-0.${id}-delete`, `lost-0.${id}-stray`, `plain-0.${id}-future`]) {
      cpSync(join(logs, 'plain-0'), join(logs, name), { recursive: true })
    }
    await start()
    const found = await topics()
    assert.deepEqual([found.has('gone'), found.has('lost'), found.get('plain')?.partitions.length], [false, false, 3])
  })

  it('adopts at a later start a folder that the metadata does not know, and holds that topic alone', async () => {
    await start()
    await alter('plain', 'retention.ms', '-1')
    await stop()
    cpSync(join(logs, 'plain-0'), join(logs, 'copied-0'), { recursive: true })
    unlinkSync(join(logs, 'copied-0', 'partition.metadata'))
    cpSync(join(logs, 'plain-2'), join(logs, 'plain-3'), { recursive: true })
    await start()
    assert.match(lines.join('\n'), /plain: adopted partitions 3, which the metadata did not know/)
    assert.match(lines.join('\n'), /adopted 2 topics \(2 partitions\) from .*: the metadata did not know them/)
    assert.deepEqual([(await partition('copied', 0))?.leaderId, (await partition('plain', 3))?.leaderId], [1, 1])
    await retentionPass()
    const starts = await offsets(EARLIEST)
    assert.deepEqual(
      [starts.get('copied-0'), starts.get('plain-3')],
      [expected.partitions['plain-0']?.logStartOffset, expected.partitions['plain-2']?.logStartOffset],
    )
  })

  it('gives a topic whose folders have no id one of its own at the first start after its configs are known', async () => {
    for (const name of names) rmSync(join(logs, name, 'partition.metadata'), { force: true })
    const idOf = async (topic: string) => (await topics()).get(topic)?.topicId
    const written = (name: string) => {
      const path = join(logs, name, 'partition.metadata')
      return existsSync(path) ? readFileSync(path, 'utf8') : null
    }
    await start()
    await alter('plain', 'retention.ms', '-1')
    assert.deepEqual([await idOf('plain'), written('plain-0')], [ZERO_UUID, null])
    await start()
    const id = await idOf('plain')
    assert.notEqual(id, ZERO_UUID)
    for (const name of ['plain-0', 'plain-1', 'plain-2']) assert.equal(written(name), `version: 0\ntopic_id: ${id}`)
    assert.equal(await idOf('compacted'), ZERO_UUID, 'held: its metadata may still be imported')
    rmSync(join(logs, 'plain-1', 'partition.metadata'))
    await start()
    assert.deepEqual([await idOf('plain'), written('plain-1')], [id, `version: 0\ntopic_id: ${id}`])
  })

  it('takes a partition offline whose folder is gone, with a line, and makes no new one', async () => {
    await start()
    await stop()
    rmSync(join(logs, 'plain-1'), { recursive: true })
    await start()
    assert.deepEqual(lines, ['plain: partition 1 is offline: its folder is missing in the log directories'])
    const gone = await partition('plain', 1)
    assert.deepEqual([gone?.leaderId, gone?.errorCode, gone?.offlineReplicas], [-1, 5, [1]])
    assert.ok(!existsSync(join(logs, 'plain-1')))
    assert.equal((await partition('plain', 0))?.leaderId, 1)
  })

  it('takes a partition offline whose folder has another topic id, with a line, and leaves the folder alone', async () => {
    await start()
    await stop()
    const metadata = join(logs, 'plain-2', 'partition.metadata')
    const other = 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAABQ'
    writeFileSync(metadata, other)
    const before = readdirSync(join(logs, 'plain-2'))
      .filter((name) => /\.log$/.test(name))
      .map((name) => readFileSync(join(logs, 'plain-2', name)))
    await start()
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, /^plain-2 is offline: its folder belongs to the topic id AAAAAAAAAAAAAAAAAAAABQ, the topic has /)
    assert.deepEqual([(await partition('plain', 2))?.leaderId, (await partition('plain', 2))?.errorCode], [-1, 5])
    await stop()
    assert.equal(readFileSync(metadata, 'utf8'), other)
    const after = readdirSync(join(logs, 'plain-2'))
      .filter((name) => /\.log$/.test(name))
      .map((name) => readFileSync(join(logs, 'plain-2', name)))
    assert.deepEqual(after, before)
  })

  it('goes below no leader epoch of a checkpoint', async () => {
    const end = expected.partitions['plain-0']!.logEndOffset
    writeFileSync(join(logs, 'plain-0', 'leader-epoch-checkpoint'), `0\n2\n0 0\n7 ${end}\n`) // Java led in 7, and wrote nothing
    await start()
    assert.equal((await partition('plain', 0))?.leaderEpoch, 7)
    await stop()
    appendFileSync(join(logs, 'plain-0', 'leader-epoch-checkpoint'), '')
    writeFileSync(join(logs, 'plain-0', 'leader-epoch-checkpoint'), `0\n2\n0 0\n12 ${end}\n`)
    loseCleanMark()
    await start()
    assert.equal((await partition('plain', 0))?.leaderEpoch, 13)
  })

  it('goes below no leader epoch of a batch header', async () => {
    await start()
    const batch = new BatchBuilder({ leaderEpoch: 21, baseOffset: 0 })
    batch.tryAppend({ timestamp: time.wall, key: null, value: Buffer.from('v'), headers: [] })
    await stop()
    mkdirSync(join(logs, 'fresh-0'))
    writeFileSync(join(logs, 'fresh-0', '00000000000000000000.log'), batch.build())
    await start()
    assert.equal((await partition('fresh', 0))?.leaderEpoch, 21)
  })

  it('gives out no producer id that stands in a batch, a snapshot or the transaction log', async () => {
    await start()
    const first = await nextProducerId()
    assert.ok(first > IDS_OF_ANOTHER_STORE) // Java's ZooKeeper goes on from 1000 when the directory comes back to it
    await stop()
    const write = (folder: string, producerId: number) => {
      const batch = new BatchBuilder({ baseOffset: 0, leaderEpoch: 0, producerId, producerEpoch: 0, baseSequence: 0 })
      batch.tryAppend({ timestamp: time.wall, key: null, value: Buffer.from('v'), headers: [] })
      mkdirSync(join(logs, folder))
      writeFileSync(join(logs, folder, '00000000000000000000.log'), batch.build())
    }
    write('used-0', first + 54_321)
    write('invented-0', 2 ** 53 - 1) // no block ever gets there, and it must not use up the ids
    await start()
    assert.equal(await nextProducerId(), first + 55_000)
  })

  it('is not fooled when its metadata is lost: nothing looks empty, and no id is given twice', async () => {
    await start()
    const first = await nextProducerId()
    await produce('plain', new BatchBuilder({ producerId: first, producerEpoch: 0, baseSequence: 0 }))
    await stop()
    loseMetadata()
    await start()
    assert.match(lines[0]!, /^adopted 17 topics/)
    assert.equal(await nextProducerId(), first + 1000)
    assert.equal((await offsets(LATEST)).get('plain-0'), expected.partitions['plain-0']!.logEndOffset + 1)
  })

  it('does not start on metadata that it cannot read', async () => {
    await start()
    await stop()
    const journal = join(logs, 'mq-metadata.journal')
    const bytes = readFileSync(journal)
    bytes[200] = bytes[200]! ^ 0xff
    writeFileSync(journal, bytes)
    await assert.rejects(
      start(),
      /mq-metadata\.journal cannot be used: it is damaged at byte \d+ of \d+, and whole entries follow/,
    )
    unlinkSync(journal)
    writeFileSync(join(logs, 'mq-metadata.snapshot'), '')
    await assert.rejects(start(), /mq-metadata\.journal cannot be used: it is missing/)
    unlinkSync(join(logs, 'mq-metadata.snapshot'))
    await start()
  })

  it('does not pass over its metadata when log.dirs are named in another order, or another folder is named', async () => {
    await start()
    await stop()
    const other = join(logs, '..', 'other')
    const elsewhere = /the metadata of this broker is in .*logs, and was looked for in .*other/
    await assert.rejects(start({ 'log.dirs': `${other},${logs}` }), elsewhere)
    await assert.rejects(start({ 'mq.metadata.dir': other }), elsewhere)
    await assert.rejects(start({ 'mq.metadata.dir': join(logs, 'metadata') }), /lies inside the log directory/)
    await start({ 'log.dirs': `${logs},${other}` })
    assert.deepEqual(lines, [])
  })

  it('keeps committed offsets of groups that nobody used for a year', async () => {
    const groups = vectors.json<{ groups: Record<string, unknown> }>('datadirs/main/clean.expected.json').groups
    assert.ok(Object.keys(groups).length > 0)
    await start({ 'log.retention.check.interval.ms': '1000000000' })
    const ask = async () => {
      const answers: string[] = []
      for (const group of Object.keys(groups)) {
        const fetched = () => client!.ask('OffsetFetch', 7, { groupId: group, topics: null, requireStable: false })
        let answer = await fetched()
        while (answer.errorCode === LOADING) answer = await fetched()
        answers.push(
          JSON.stringify([
            group,
            answer.errorCode,
            answer.topics.map(({ name, partitions }) => [
              name,
              partitions.map(({ partitionIndex, committedOffset }) => [partitionIndex, committedOffset]),
            ]),
          ]),
        )
      }
      return answers
    }
    const before = await ask()
    assert.ok(
      before.some((answer) => /\[\d+,\d+\]/.test(answer)),
      before.join(),
    )
    await time.advance(3 * 3600_000) // many checks for what has expired
    client = await RawClient.connect(running!.port) // the one before was closed as idle
    assert.deepEqual(await ask(), before)
  })
})
