/** The partitions of a broker: who is told of leadership, who is woken when, what goes with a topic. */
import assert from 'node:assert/strict'
import type { LogDirectories, LogPartition } from '@mq/log'
import type { Partition, PartitionConfig } from './partition.js'
import { Partitions } from './partitions.js'
import { FakeTimers, FakeTurn, partitionConfig, ScriptedLog } from './testing.js'

/** Directories that only know which logs there are. */
class ScriptedDirectories {
  readonly logs = new Map<string, ScriptedLog>()
  readonly told: string[] = []
  /** What happens while a log is being made. */
  meanwhile: () => void = () => {}
  readonly #key = ({ topic, partition }: LogPartition) => `${topic}-${partition}`
  get(partition: LogPartition): ScriptedLog | undefined {
    return this.logs.get(this.#key(partition))
  }
  async create(partition: LogPartition, topicId: string | null): Promise<ScriptedLog> {
    const log = new ScriptedLog(partition)
    log.topicId = topicId
    await null
    this.meanwhile()
    this.logs.set(this.#key(partition), log)
    this.told.push(`create ${this.#key(partition)}`)
    return log
  }
  async delete(partition: LogPartition): Promise<void> {
    this.logs.delete(this.#key(partition))
    this.told.push(`delete ${this.#key(partition)}`)
  }
  setTopicConfig(topic: string, config: PartitionConfig): void {
    this.told.push(`configure ${topic} ${[...this.logs.keys()]} min.insync.replicas=${config['min.insync.replicas']}`)
  }
}

describe('the partitions of a broker', () => {
  let directories: ScriptedDirectories
  let turn: FakeTurn
  let partitions: Partitions
  const config = partitionConfig()
  const lead = (topic: string, partition: number, leaderEpoch = 0) =>
    partitions.lead({ topic, partition }, { topicId: 'id', leaderEpoch, isr: [1], replicas: [1], config })

  beforeEach(() => {
    directories = new ScriptedDirectories()
    turn = new FakeTurn()
    partitions = new Partitions({
      brokerId: 1,
      logs: directories as unknown as LogDirectories,
      timers: new FakeTimers(),
      turn,
    })
  })

  it('are made with their logs, and found by topic and index', async () => {
    const made = await lead('t', 3)
    assert.deepEqual(directories.told, ['create t-3'])
    assert.equal(partitions.get('t', 3), made)
    assert.equal(made.topicId, 'id')
    for (const index of [0, -1, 99, 2 ** 31]) assert.equal(partitions.get('t', index), undefined)
    assert.equal(partitions.get('other', 3), undefined)
    assert.deepEqual([...partitions.all()], [made])
    await lead('t', 3, 1)
    assert.deepEqual(directories.told, ['create t-3'])
  })

  it('write the id of their topic into a folder that has none', async () => {
    const log = await directories.create({ topic: 't', partition: 0 }, null)
    const partition = await lead('t', 0)
    assert.deepEqual([log.topicId, partition.topicId], ['id', 'id'])
    await partitions.lead({ topic: 't', partition: 0 }, { topicId: null, leaderEpoch: 1, isr: [1], replicas: [1], config })
    assert.equal(log.topicId, 'id')
  })

  it('tell coordinators which they gain and lose', async () => {
    const told: string[] = []
    const end = partitions.onLeadership((partition, change) => {
      told.push(`${partition.topicPartition.topic}-${partition.topicPartition.partition} ${change} leader=${partition.isLeader}`)
    })
    await lead('t', 0)
    await partitions.takeOffline({ topic: 't', partition: 0 }, config, 'KAFKA_STORAGE_ERROR', 'gone')
    await partitions.takeOffline({ topic: 't', partition: 0 }, config, 'KAFKA_STORAGE_ERROR', 'still gone')
    await lead('t', 0, 1)
    await partitions.remove({ topic: 't', partition: 0 })
    end()
    await lead('t', 1)
    assert.deepEqual(told, ['t-0 gained leader=true', 't-0 lost leader=false', 't-0 gained leader=true', 't-0 lost leader=false'])
  })

  it('go with their topic, and their logs with them', async () => {
    await lead('t', 0)
    await partitions.remove({ topic: 't', partition: 0 })
    assert.equal(partitions.get('t', 0), undefined)
    assert.deepEqual([...partitions.ofTopic('t')], [])
    assert.deepEqual(directories.told, ['create t-0', 'delete t-0'])
  })

  it('wake those who wait once per turn, for all that the turn brought', async () => {
    const partition = await lead('t', 0)
    let asked = 0
    const wait = () =>
      partitions.delayedFetches.add(
        { tryComplete: () => ++asked > 1 && partition.bytesAppended >= 3, giveUp: () => {} },
        [partition],
        500,
      )
    wait()
    turn.end()
    asked = 1
    for (let append = 0; append < 3; append++) partition.append(Buffer.alloc(1), { acks: 1, origin: 'client', timeoutMs: 0 })
    assert.equal(asked, 1)
    turn.end()
    assert.equal(asked, 2)
    assert.equal(partitions.delayedFetches.size, 0)
  })

  it('answer those who wait for a partition that goes', async () => {
    const partition = await lead('t', 0)
    let answered = false
    const delayed = {
      tryComplete: () => {
        answered = !partition.isLeader
        return answered
      },
      giveUp: () => {},
    }
    partitions.delayedFetches.add(delayed, [partition], 500)
    await partitions.remove({ topic: 't', partition: 0 })
    turn.end()
    assert.ok(answered)
  })

  it('obey new configs at once', async () => {
    const partition: Partition = await lead('t', 0)
    partitions.configure('t', partitionConfig({ 'min.insync.replicas': 3 }))
    assert.equal(partition.config['min.insync.replicas'], 3)
    assert.deepEqual(directories.told, ['create t-0', 'configure t t-0 min.insync.replicas=3'])
  })

  it('obey configs that came while their log was being made, and so does the log', async () => {
    directories.meanwhile = () => partitions.configure('t', partitionConfig({ 'min.insync.replicas': 3 }))
    const partition = await lead('t', 0)
    assert.equal(partition.config['min.insync.replicas'], 3)
    const [early, made, late] = directories.told
    assert.deepEqual(
      [early, made, late],
      ['configure t  min.insync.replicas=3', 'create t-0', 'configure t t-0 min.insync.replicas=3'],
    )
  })
})
