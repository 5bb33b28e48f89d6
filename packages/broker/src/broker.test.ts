// A whole broker inside this process: starts, serves, resets, restarts on its directory, and leaves nothing behind.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryDisk } from '@mq/log'
import { BatchBuilder, errorByCode, InvariantError } from '@mq/protocol'
import { nodeEnvironment } from './node-environment.js'
import { type RunningBroker, type StartBrokerOptions, startBroker } from './start-broker.js'
import { StartError } from './start-error.js'
import { RawClient } from './testing/raw-client.js'

const batchOf = (...values: string[]) => {
  const builder = new BatchBuilder({})
  for (const value of values)
    builder.tryAppend({ timestamp: 1_700_000_000_000, key: null, value: Buffer.from(value), headers: [] })
  return builder.build()
}

describe('A broker in this process', () => {
  const brokers: RunningBroker[] = []
  const clients: RawClient[] = []
  const directories: string[] = []
  const begin = async (options: StartBrokerOptions = {}) => {
    const broker = await startBroker(options)
    brokers.push(broker)
    return broker
  }
  const client = async (broker: RunningBroker, host?: string) => {
    const one = await RawClient.connect(broker.port, host)
    clients.push(one)
    return one
  }
  const directory = () => {
    const path = mkdtempSync(join(tmpdir(), 'mq-broker-'))
    directories.push(path)
    return path
  }
  const create = async (one: RawClient, name: string, numPartitions = 1, configs: { name: string; value: string }[] = []) => {
    const { topics } = await one.ask('CreateTopics', 7, {
      topics: [{ name, numPartitions, replicationFactor: 1, configs }],
      timeoutMs: 5000,
    })
    return topics[0]!
  }
  const produce = async (one: RawClient, name: string, ...values: string[]) => {
    const { responses } = await one.ask('Produce', 9, {
      acks: -1,
      timeoutMs: 5000,
      topicData: [{ name, partitionData: [{ index: 0, records: batchOf(...values) }] }],
    })
    const { errorCode, baseOffset } = responses[0]!.partitionResponses[0]!
    return errorCode === 0 ? baseOffset : errorByCode(errorCode)
  }
  const names = async (one: RawClient) => {
    const { topics } = await one.ask('Metadata', 9, { topics: null })
    return topics.map(({ name }) => name).sort()
  }
  const endOffset = async (one: RawClient, name: string) => {
    const { topics } = await one.ask('ListOffsets', 7, {
      replicaId: -1,
      topics: [{ name, partitions: [{ partitionIndex: 0, timestamp: -1 }] }],
    })
    return topics[0]!.partitions[0]!.offset
  }
  afterEach(async () => {
    for (const one of clients.splice(0)) one.end()
    for (const broker of brokers.splice(0)) await broker.close()
    for (const path of directories.splice(0)) rmSync(path, { recursive: true, force: true })
  })

  it('tells its real port, and serves on 127.0.0.1, localhost and ::1 where there is one', async () => {
    const broker = await begin()
    assert.equal(broker.bootstrap, `localhost:${broker.port}`)
    for (const host of ['127.0.0.1', 'localhost', '::1']) {
      const one = await client(broker, host).catch((error) => {
        if (host === '::1' && /EADDRNOTAVAIL|EAFNOSUPPORT|ECONNREFUSED/.test(error.code)) return undefined // no IPv6 here
        throw error
      })
      if (one === undefined) continue
      const { brokers: known, controllerId, clusterId } = await one.ask('Metadata', 9, { topics: [] })
      assert.deepEqual(
        known.map(({ host: advertised, port }) => [advertised, port]),
        [['localhost', broker.port]],
      )
      assert.deepEqual([controllerId, clusterId], [broker.brokerId, broker.clusterId])
    }
  })

  it('takes records and gives them back', async () => {
    const one = await client(await begin())
    await create(one, 'things')
    assert.equal(await produce(one, 'things', 'a', 'b'), 0)
    assert.equal(await produce(one, 'things', 'c'), 2)
    assert.equal(await endOffset(one, 'things'), 3)
  })

  it('makes unknown topics when they are asked for: LEADER_NOT_AVAILABLE, then there', async () => {
    const one = await client(await begin({ configs: { 'num.partitions': 3 } }))
    const ask = async (name: string) => {
      const { topics } = await one.ask('Metadata', 1, { topics: [{ name }] })
      return errorByCode(topics[0]!.errorCode)
    }
    assert.deepEqual([await ask('made'), await ask('made')], ['LEADER_NOT_AVAILABLE', 'NONE'])
    for (const name of ['..', '.', '../../etc/passwd', 'a b', 'xé', '', 'a'.repeat(250)]) {
      assert.equal(await ask(name), 'INVALID_TOPIC_EXCEPTION', JSON.stringify(name))
    }
    assert.deepEqual(
      [await ask('a'.repeat(249)), await ask('a.b'), await ask('a_b')],
      ['LEADER_NOT_AVAILABLE', 'LEADER_NOT_AVAILABLE', 'INVALID_TOPIC_EXCEPTION'],
    )
    const { topics } = await one.ask('Metadata', 9, { topics: [{ name: 'made' }] })
    assert.equal(topics[0]!.partitions.length, 3)
  })

  it('makes none when auto-creation is off, by the config or by the request', async () => {
    const off = await client(await begin({ configs: { 'auto.create.topics.enable': false } }))
    const errors = async (one: RawClient, version: number, allowAutoTopicCreation: boolean) => {
      const { topics } = await one.ask('Metadata', version, {
        topics: [{ name: 'none' }, { name: 'a b' }],
        allowAutoTopicCreation,
      })
      return topics.map(({ errorCode }) => errorByCode(errorCode))
    }
    const expected = ['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION']
    assert.deepEqual(await errors(off, 4, true), expected)
    assert.deepEqual(await errors(await client(await begin()), 4, false), expected)
  })

  it('says of topics which the brokers keep for themselves, also of those that are not there', async () => {
    const one = await client(await begin({ configs: { 'auto.create.topics.enable': false } }))
    const asked = ['__consumer_offsets', '__transaction_state', '__share_group_state', '__cluster_metadata', 'mine']
    const { topics } = await one.ask('Metadata', 4, { topics: asked.map((name) => ({ name })), allowAutoTopicCreation: true })
    assert.deepEqual(
      topics.map(({ name, isInternal }) => [name, isInternal]),
      asked.map((name, at) => [name, at < 3]),
    )
  })

  it('answers Metadata by topic id, and all topics by an empty list in v0', async () => {
    const one = await client(await begin())
    const { topicId } = await create(one, 'known')
    const answer = await one.ask('Metadata', 12, {
      topics: [
        { topicId, name: null },
        { topicId: 'BBBBBBBBBBBBBBBBBBBBBQ', name: null },
      ],
      includeTopicAuthorizedOperations: true,
    })
    assert.deepEqual(
      answer.topics.map(({ errorCode, name, topicAuthorizedOperations }) => [
        errorByCode(errorCode),
        name,
        topicAuthorizedOperations,
      ]),
      [
        ['NONE', 'known', 3576],
        ['UNKNOWN_TOPIC_ID', null, -2147483648],
      ],
    )
    const wrong = await one.ask('Metadata', 10, { topics: [{ topicId, name: 'known' }] })
    assert.deepEqual([errorByCode(wrong.topics[0]!.errorCode), wrong.brokers, wrong.clusterId], ['INVALID_REQUEST', [], null])
    assert.deepEqual(
      (await one.ask('Metadata', 0, { topics: [] })).topics.map(({ name }) => name),
      ['known'],
    )
    assert.deepEqual((await one.ask('Metadata', 1, { topics: [] })).topics, [])
  })

  it('answers CreateTopics with the configs as they are in force, and refuses too many partitions', async () => {
    const one = await client(await begin())
    const made = await create(one, 'configured', -1, [{ name: 'retention.ms', value: ' 1234 ' }])
    assert.deepEqual([made.errorCode, made.numPartitions, made.replicationFactor, made.configs!.length], [0, 1, 1, 36])
    const retention = made.configs!.find(({ name }) => name === 'retention.ms')!
    assert.deepEqual([retention.value, retention.configSource], ['1234', 1])
    const refused = await create(one, 'huge', 10_001)
    assert.deepEqual([errorByCode(refused.errorCode), refused.numPartitions, refused.configs], ['INVALID_PARTITIONS', -1, []])
    const bad = await create(one, 'bad', 1, [{ name: 'retention.ms', value: '-2' }])
    assert.equal(errorByCode(bad.errorCode), 'INVALID_CONFIG')
  })

  it('adds partitions, deletes topics by name and by id', async () => {
    const one = await client(await begin())
    const { topicId } = await create(one, 'first', 2)
    await create(one, 'second')
    const grow = async (name: string, count: number) => {
      const { results } = await one.ask('CreatePartitions', 3, { topics: [{ name, count, assignments: null }], timeoutMs: 5000 })
      return errorByCode(results[0]!.errorCode)
    }
    assert.deepEqual(
      [await grow('first', 4), await grow('first', 4), await grow('nope', 2)],
      ['NONE', 'INVALID_PARTITIONS', 'UNKNOWN_TOPIC_OR_PARTITION'],
    )
    const remove = async (topics: { name: string | null; topicId?: string }[]) => {
      const { responses } = await one.ask('DeleteTopics', 6, { topics, timeoutMs: 5000 })
      return responses.map(({ errorCode }) => errorByCode(errorCode))
    }
    assert.deepEqual(await remove([{ name: 'both', topicId }]), ['INVALID_REQUEST'])
    assert.deepEqual(await remove([{ name: null, topicId }, { name: 'second' }, { name: 'third' }]), [
      'NONE',
      'NONE',
      'UNKNOWN_TOPIC_OR_PARTITION',
    ])
    assert.deepEqual(await names(one), [])
  })

  it('alters configs of topics one by one or as a whole, and says why it alters no others', async () => {
    const one = await client(await begin())
    await create(one, 'tuned', 1, [{ name: 'cleanup.policy', value: 'compact' }])
    const change = async (
      resourceType: number,
      resourceName: string,
      name: string,
      configOperation: number,
      value: string | null,
    ) => {
      const { responses } = await one.ask('IncrementalAlterConfigs', 1, {
        resources: [{ resourceType, resourceName, configs: [{ name, configOperation, value }] }],
      })
      return errorByCode(responses[0]!.errorCode)
    }
    const values = async () => {
      const { results } = await one.ask('DescribeConfigs', 4, {
        resources: [{ resourceType: 2, resourceName: 'tuned', configurationKeys: ['cleanup.policy', 'retention.ms'] }],
      })
      assert.equal(results[0]!.errorMessage, '') // as Kafka says of no error
      return Object.fromEntries(results[0]!.configs.map(({ name, value }) => [name, value]))
    }
    assert.equal(await change(2, 'tuned', 'cleanup.policy', 2, 'delete'), 'NONE')
    assert.equal(await change(2, 'tuned', 'retention.ms', 0, '77'), 'NONE')
    assert.deepEqual(await values(), { 'cleanup.policy': 'compact,delete', 'retention.ms': '77' })
    assert.equal(await change(2, 'tuned', 'cleanup.policy', 3, 'compact'), 'NONE')
    assert.equal(await change(2, 'tuned', 'retention.ms', 1, null), 'NONE')
    assert.deepEqual(await values(), { 'cleanup.policy': 'delete', 'retention.ms': '604800000' })
    assert.equal(await change(2, 'tuned', 'retention.ms', 0, 'x'), 'INVALID_CONFIG')
    assert.equal(await change(2, 'tuned', 'retention.ms', 2, '1'), 'INVALID_CONFIG')
    assert.equal(await change(2, 'tuned', 'retention.ms', 0, null), 'INVALID_REQUEST')
    assert.equal(await change(2, 'tuned', 'retention.ms', 9, '1'), 'INVALID_REQUEST')
    assert.equal(await change(2, 'nope', 'retention.ms', 0, '1'), 'UNKNOWN_TOPIC_OR_PARTITION')
    assert.equal(await change(4, '1001', 'log.cleaner.threads', 0, '2'), 'INVALID_REQUEST')
    const replaced = await one.ask('AlterConfigs', 2, {
      resources: [
        { resourceType: 8, resourceName: '1001', configs: [] },
        { resourceType: 2, resourceName: 'tuned', configs: [{ name: 'retention.ms', value: '5' }] },
      ],
    })
    assert.deepEqual(
      replaced.responses.map(({ resourceType, errorCode }) => [resourceType, errorByCode(errorCode)]),
      [
        [8, 'INVALID_REQUEST'],
        [2, 'NONE'],
      ],
    )
    assert.match(replaced.responses[0]!.errorMessage ?? '', /Only the configs of topics can be altered/)
    assert.deepEqual(await values(), { 'cleanup.policy': 'delete', 'retention.ms': '5' })
  })

  it('describes its cluster to those who ask for brokers', async () => {
    const broker = await begin()
    const one = await client(broker)
    const answer = await one.ask('DescribeCluster', 1, { endpointType: 1, includeClusterAuthorizedOperations: true })
    assert.deepEqual(
      [answer.clusterId, answer.controllerId, answer.brokers.length, answer.clusterAuthorizedOperations],
      [broker.clusterId, broker.brokerId, 1, 8096],
    )
    const other = async (endpointType: number) => errorByCode((await one.ask('DescribeCluster', 1, { endpointType })).errorCode)
    assert.deepEqual([await other(2), await other(7)], ['MISMATCHED_ENDPOINT_TYPE', 'UNSUPPORTED_ENDPOINT_TYPE'])
  })

  it('forgets everything in a reset, and keeps its connections', async () => {
    const broker = await begin()
    const one = await client(broker)
    await create(one, 'old', 5)
    await produce(one, 'old', 'a')
    await broker.reset()
    assert.deepEqual(await names(one), [])
    await create(one, 'old')
    assert.equal(await produce(one, 'old', 'b'), 0)
    await assert.rejects(
      begin({ directory: directory() }).then((kept) => kept.reset()),
      /only a broker in memory/,
    )
  })

  it('keeps topics, ids, records and configs on its directory from start to start', async () => {
    const path = directory()
    const first = await begin({ directory: path })
    const before = await client(first)
    const { topicId } = await create(before, 'kept', 2, [
      { name: 'retention.ms', value: '-1' },
      { name: 'max.message.bytes', value: '200' },
    ])
    await produce(before, 'kept', 'a', 'b')
    assert.equal(await produce(before, 'kept', 'x'.repeat(500)), 'MESSAGE_TOO_LARGE')
    const identity = [first.brokerId, first.clusterId]
    await first.close()
    const second = await begin({ directory: path })
    assert.deepEqual([second.brokerId, second.clusterId], identity)
    const after = await client(second)
    const { topics } = await after.ask('Metadata', 12, { topics: [{ name: null, topicId }] })
    assert.deepEqual([topics[0]!.name, topics[0]!.partitions.map(({ leaderEpoch }) => leaderEpoch)], ['kept', [0, 0]])
    assert.equal(await endOffset(after, 'kept'), 2)
    assert.equal(await produce(after, 'kept', 'c'), 2)
    assert.equal(await produce(after, 'kept', 'x'.repeat(500)), 'MESSAGE_TOO_LARGE')
    const { results } = await after.ask('DescribeConfigs', 4, {
      resources: [{ resourceType: 2, resourceName: 'kept', configurationKeys: ['retention.ms'] }],
    })
    assert.equal(results[0]!.configs[0]!.value, '-1')
  })

  it('says what it cut from the end of its metadata, and goes on with the rest', async () => {
    const path = directory()
    const first = await begin({ directory: path })
    await create(await client(first), 'kept', 1)
    await first.close()
    appendFileSync(join(path, 'mq-metadata.journal'), Buffer.from([0, 0, 0]))
    const said: string[] = []
    const warn = (_fields: object, message: string) => void said.push(message)
    const second = await begin({ directory: path, log: { debug() {}, info() {}, warn, error() {} } })
    assert.deepEqual(said, ['3 bytes of an unfinished write were cut from mq-metadata.journal'])
    assert.deepEqual(await names(await client(second)), ['kept'])
  })

  it('takes no directory that another broker of this process has, and one that was given up', async () => {
    const path = directory()
    const first = await begin({ directory: path })
    await assert.rejects(begin({ directory: path }), (error) => {
      assert.equal(error instanceof StartError, true)
      assert.match(String((error as Error).message), /another broker in this process.*--data/s)
      return true
    })
    await first.close()
    await begin({ directory: path })
  })

  it('leaves neither lock nor marks when it cannot start, and says which port is taken', async () => {
    const path = directory()
    const first = await begin()
    await assert.rejects(begin({ directory: path, port: first.port }), (error) => {
      assert.equal(error instanceof StartError && error.exitCode === 1, true)
      assert.match(
        (error as Error).message,
        new RegExp(`cannot listen on 127\\.0\\.0\\.1, port ${first.port}: the port is taken`),
      )
      return true
    })
    assert.deepEqual(readdirSync(path), [])
  })

  it('does not start on a directory of another broker or with metadata of another cluster', async () => {
    const path = directory()
    await (await begin({ directory: path, configs: { 'broker.id': 3 } })).close()
    await assert.rejects(begin({ directory: path, configs: { 'broker.id': 4 } }), /belongs to broker 3, this is broker 4/)
    const meta = join(path, 'meta.properties')
    writeFileSync(meta, readFileSync(meta, 'latin1').replace(/cluster\.id=.*/, 'cluster.id=AAAAAAAAAAAAAAAAAAAABQ'))
    await assert.rejects(begin({ directory: path, configs: { 'broker.id': 3 } }), /they do not belong together/)
    assert.equal(readFileSync(join(path, '.lock'), 'latin1'), '')
  })

  it('keeps its metadata apart when told so, but not inside a log directory', async () => {
    const [logs, metadata] = [directory(), directory()]
    await (await begin({ directory: logs, configs: { 'mq.metadata.dir': metadata } })).close()
    assert.equal(
      readdirSync(metadata).some((name) => name.startsWith('mq-metadata.')),
      true,
    )
    assert.equal(
      readdirSync(logs).some((name) => name.startsWith('mq-metadata.')),
      false,
    )
    const other = begin({ directory: logs, configs: { 'mq.metadata.dir': metadata } })
    await other
    await assert.rejects(
      begin({ directory: directory(), configs: { 'mq.metadata.dir': metadata } }),
      /mq\.metadata\.dir=.* is in use by another broker in this process/,
    )
    await (await other).close()
    await (await begin({ directory: logs, configs: { 'mq.metadata.dir': metadata } })).close()
    await assert.rejects(
      begin({ directory: logs, configs: { 'mq.metadata.dir': join(logs, 'inside') } }),
      /lies inside the log directory/,
    )
  })

  it('stops by itself, with the reason, when its only directory fails, and ends no process', async () => {
    const disk = new MemoryDisk({ durability: 'ignored' })
    const broker = await begin({ directory: '/data', disk })
    const one = await client(broker)
    await create(one, 'doomed')
    assert.equal(await produce(one, 'doomed', 'a'), 0)
    disk.faults = ({ kind, path }) => (kind === 'write' && path.includes('doomed') ? { fail: 'ENOSPC' } : undefined)
    assert.equal(await produce(one, 'doomed', 'b'), 'KAFKA_STORAGE_ERROR')
    const failure = await broker.closed
    assert.equal(failure?.kind, 'storage')
    assert.match(failure.message, /every log directory has failed, the last one was \/data: write \/data\/doomed-0/)
    disk.faults = () => undefined
    const again = await client(await begin({ directory: '/data', disk }))
    assert.equal(await endOffset(again, 'doomed'), 1)
  })

  for (const [code, exitCode] of [
    ['ENOSPC', 3],
    ['EIO', 3],
    ['EACCES', 1],
  ] as const) {
    it(`does not start on a disk that answers ${code}, and exits with ${exitCode}`, async () => {
      const disk = new MemoryDisk({
        durability: 'ignored',
        faults: ({ kind }) => (kind === 'write' ? { fail: code } : undefined),
      })
      await assert.rejects(begin({ directory: '/data', disk }), (error) => {
        assert.equal(error instanceof StartError && error.exitCode === exitCode, true, String(error))
        assert.match((error as Error).message, /\/data.*; give another directory by --data DIR, or log\.dirs$/)
        return true
      })
    })
  }

  it('does not start when its metadata cannot be written later in the start, exits with 3 and lets go of everything', async () => {
    const disk = new MemoryDisk({ durability: 'ignored' })
    let writes = 0
    disk.faults = ({ kind, path }) =>
      kind === 'write' && path.endsWith('mq-metadata.journal') && ++writes > 3 ? { fail: 'ENOSPC' } : undefined
    await assert.rejects(begin({ directory: '/data', disk }), (error) => {
      assert.equal(error instanceof StartError && error.exitCode === 3, true, String(error))
      assert.match((error as Error).message, /^the metadata in \/data cannot be written: write \/data\/mq-metadata\.journal/)
      return true
    })
    assert.equal(writes > 3, true)
    disk.faults = () => undefined
    await begin({ directory: '/data', disk })
  })

  it('leaves no timer behind when it is closed in the middle of a reset', async () => {
    let running = 0
    const { timers } = nodeEnvironment()
    const counted = {
      after(ms: number, fire: () => void) {
        running++
        let isOver = false
        const end = () => {
          if (!isOver) running--
          isOver = true
        }
        const cancel = timers.after(ms, () => {
          end()
          fire()
        })
        return () => {
          end()
          cancel()
        }
      },
    }
    const broker = await begin({ environment: { timers: counted } })
    assert.equal(running > 0, true)
    const [reset, again] = [broker.reset(), broker.reset()]
    await broker.close()
    await Promise.allSettled([reset, again])
    assert.equal(await broker.closed, null)
    assert.equal(running, 0)
    await assert.rejects(broker.reset(), /the broker is closed/)
  })

  it('closes with the reason when an invariant is broken, and answers before', async () => {
    let isBroken = false
    const random = {
      next: () => 0.5,
      bytes: (count: number) => {
        if (isBroken) throw new InvariantError('chance has run out')
        return randomBytes(count)
      },
    }
    const broker = await begin({ environment: { random } })
    const one = await client(broker)
    isBroken = true
    await create(one, 'never').catch(() => {}) // answered or closed, both within the rules
    assert.deepEqual(await broker.closed, { kind: 'defect', message: 'chance has run out' })
  })

  it('can be closed twice, and says so', async () => {
    const broker = await begin()
    const one = await client(broker)
    await create(one, 'something', 3)
    await Promise.all([broker.close(), broker.close()])
    assert.equal(await broker.closed, null)
    assert.equal(await one.frame(), null)
    await assert.rejects(RawClient.connect(broker.port), /ECONNREFUSED/)
  })

  it('leaves no timer, socket or file open, so that a process ends by itself', () => {
    const script = `
      const { startBroker } = require(${JSON.stringify(join(__dirname, 'index.js'))})
      const { RawClient } = require(${JSON.stringify(join(__dirname, 'testing/raw-client.js'))})
      startBroker({ directory: process.argv[1] }).then(async (broker) => {
        const client = await RawClient.connect(broker.port)
        await client.ask('Metadata', 4, { topics: [{ name: 'made' }], allowAutoTopicCreation: true })
        await client.ask('FindCoordinator', 3, { key: 'group', keyType: 0 })
        await broker.close()
        client.end()
        setTimeout(() => console.log(process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap').join()), 50)
      })`
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script, directory()], {
      encoding: 'utf8',
      timeout: 15_000,
    })
    assert.deepEqual([status, stdout, stderr], [0, 'Timeout\n', ''])
  })
})
