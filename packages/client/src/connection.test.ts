import assert from 'node:assert/strict'
import { APIS } from '@mq/protocol'
import { Connection, type ConnectionOptionsOfOurs } from './connection.js'
import { logLevel } from './enums.js'
import {
  KafkaJSConnectionClosedError,
  KafkaJSConnectionError,
  KafkaJSRequestTimeoutError,
  KafkaJSServerDoesNotSupportApiKey,
} from './errors.js'
import { createLogger } from './logger.js'
import { nodeEnvironment } from './node-environment.js'
import { FakeBroker } from './testing/fake-broker.js'
import { ManualTime } from './testing/manual-timers.js'

describe('a connection', () => {
  let broker: FakeBroker
  let time: ManualTime
  const connections: Connection[] = []
  const events: { kind: string; payload: Record<string, unknown> }[] = []

  const connect = (overrides: Partial<ConnectionOptionsOfOurs> = {}): Connection => {
    const connection = new Connection({
      host: '127.0.0.1',
      port: broker.port,
      clientId: 'test',
      socketFactory: nodeEnvironment.socketFactory,
      clock: time,
      timers: time,
      logger: createLogger({ level: logLevel.NOTHING, clock: time }),
      connectionTimeoutMs: 1_000,
      requestTimeoutMs: 30_000,
      enforceRequestTimeout: true,
      maxInFlightRequests: Number.POSITIVE_INFINITY,
      listener: {
        request: (payload) => events.push({ kind: 'request', payload }),
        requestTimeout: (payload) => events.push({ kind: 'timeout', payload }),
        requestQueueSize: (payload) => events.push({ kind: 'queue', payload }),
      },
      ...overrides,
    })
    connections.push(connection)
    return connection
  }

  beforeEach(async () => {
    time = new ManualTime()
    broker = await new FakeBroker().listen()
    events.length = 0
  })
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.close()
    await broker.close()
    assert.equal(time.armed, 0, 'a timer outlived its connection')
  })

  it('speaks the highest version that both sides know', async () => {
    const connection = connect()
    await connection.send('Metadata', { topics: [] })
    assert.deepEqual(
      broker.requests.map(({ api, version }) => [api, version]),
      [
        ['ApiVersions', 3],
        ['Metadata', 9],
      ],
    )
  })

  it('asks again in an older version when the broker does not know ours', async () => {
    broker.answers.ApiVersions = (_, { version }) =>
      version > 0
        ? { errorCode: 35, apiKeys: [{ apiKey: 18, minVersion: 0, maxVersion: 0 }] }
        : { apiKeys: [{ apiKey: 3, minVersion: 0, maxVersion: 4 }] }
    const connection = connect()
    await connection.send('Metadata', { topics: [] })
    assert.deepEqual(
      broker.requests.map(({ api, version }) => [api, version]),
      [
        ['ApiVersions', 3],
        ['ApiVersions', 0],
        ['Metadata', 4],
      ],
    )
  })

  it('refuses an API that the broker does not serve, by name', async () => {
    broker.answers.ApiVersions = () => ({ apiKeys: [{ apiKey: APIS.ApiVersions.key, minVersion: 0, maxVersion: 3 }] })
    await assert.rejects(connect().send('Produce', {}), (error: KafkaJSServerDoesNotSupportApiKey) => {
      assert.ok(error instanceof KafkaJSServerDoesNotSupportApiKey)
      assert.equal(error.apiName, 'Produce')
      assert.equal(error.retriable, false)
      return true
    })
  })

  it('matches answers by correlation id when they come in another order', async () => {
    let release: (value: object) => void = () => {}
    broker.answers.Heartbeat = () => new Promise((resolve) => (release = resolve as never))
    const connection = connect()
    const slow = connection.send('Heartbeat', { groupId: 'g' })
    const quick = await connection.send('Metadata', { topics: [] })
    assert.equal(quick.clusterId, 'fake')
    release({ errorCode: 27 })
    assert.equal((await slow).errorCode, 27)
  })

  it('wraps correlation ids within int32', async () => {
    const connection = connect()
    await connection.open()
    connection.startCorrelationIdsAt(2_147_483_646)
    await Promise.all(Array.from({ length: 5 }, () => connection.send('Metadata', { topics: [] })))
    assert.deepEqual(
      broker.requests.slice(1).map(({ correlationId }) => correlationId),
      [2_147_483_646, 2_147_483_647, 0, 1, 2],
    )
  })

  it('gives a request up after its time limit, says so in an event, and closes', async () => {
    broker.answers.Metadata = () => 'silence'
    const connection = connect()
    await connection.open()
    const failed = connection.send('Metadata', { topics: [] }, { timeoutMs: 5_000 })
    await new Promise(setImmediate)
    time.advance(4_999)
    assert.equal(connection.isOpen, true)
    time.advance(1)
    await assert.rejects(failed, KafkaJSRequestTimeoutError)
    assert.equal(connection.isClosed, true)
    assert.equal(events.filter(({ kind }) => kind === 'timeout').length, 1)
  })

  it('gives a connect up that nobody answers', async () => {
    const neverConnects: ConnectionOptionsOfOurs['socketFactory'] = ({ host, port }) =>
      nodeEnvironment.socketFactory({ host, port, onConnect: () => {} })
    const failed = connect({ socketFactory: neverConnects }).open()
    time.advance(1_000)
    await assert.rejects(
      failed,
      (error: KafkaJSConnectionError) => error instanceof KafkaJSConnectionError && /Connection timeout/.test(error.message),
    )
  })

  it('rejects what is in flight when the broker goes', async () => {
    const arrived = new Promise<void>((resolve) => {
      broker.answers.Metadata = () => {
        resolve()
        return 'close'
      }
    })
    const connection = connect()
    const failed = connection.send('Metadata', { topics: [] })
    await arrived
    await assert.rejects(failed, KafkaJSConnectionClosedError)
    await assert.rejects(connection.send('Metadata', {}), KafkaJSConnectionClosedError)
  })

  it('closes when an answer makes no sense', async () => {
    broker.answers.Metadata = (_, { socket }) => {
      socket.write(Buffer.from('ffffffff', 'hex'))
      return 'silence'
    }
    const connection = connect()
    await assert.rejects(connection.send('Metadata', { topics: [] }), /Cannot read the answer/)
    assert.equal(connection.isClosed, true)
  })

  it('keeps to the limit of requests in flight, and tells the queue', async () => {
    let release: () => void = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    broker.answers.Heartbeat = async () => {
      await gate
      return {}
    }
    const connection = connect({ maxInFlightRequests: 2 })
    await connection.open()
    const all = Promise.all(Array.from({ length: 5 }, () => connection.send('Heartbeat', { groupId: 'g' })))
    await new Promise(setImmediate)
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'queue').map(({ payload }) => payload.queueSize),
      [1, 2, 3],
    )
    release()
    await all
    assert.equal(broker.count('Heartbeat'), 5)
  })

  it('keeps quiet as long as the broker asks, and no longer', async () => {
    broker.answers.Metadata = () => ({ throttleTimeMs: 1, brokers: [], topics: [], clusterId: 'fake', controllerId: 1 })
    const connection = connect()
    await connection.send('Metadata', { topics: [] })
    const second = connection.send('Metadata', { topics: [] })
    await new Promise(setImmediate)
    assert.equal(broker.count('Metadata'), 1)
    time.advance(1)
    await second
    time.advance(1)
    assert.equal(broker.count('Metadata'), 2)
  })

  it('resolves a request without answer once the system has its bytes, not before', async () => {
    const written: (() => void)[] = []
    const connection = connect({
      socketFactory: (args) => {
        const socket = nodeEnvironment.socketFactory(args)
        const write = socket.write.bind(socket)
        // A peer that is slow to read: the system takes the bytes when the test says so.
        socket.write = ((bytes: Buffer, done?: () => void) => {
          if (done !== undefined) written.push(done)
          return write(bytes)
        }) as typeof socket.write
        return socket
      },
    })
    await connection.open()
    let resolved = false
    const sent = connection
      .send('Produce', { acks: 0, timeoutMs: 0, transactionalId: null, topicData: [] }, { expectsAnswer: false })
      .then(() => {
        resolved = true
      })
    await new Promise(setImmediate)
    assert.equal(resolved, false)
    for (const done of written) done()
    await sent
  })

  it('rejects a request without answer when the connection ends before the system has its bytes', async () => {
    const connection = connect({
      socketFactory: (args) => {
        const socket = nodeEnvironment.socketFactory(args)
        const write = socket.write.bind(socket)
        socket.write = ((bytes: Buffer, done?: () => void) => (done === undefined ? write(bytes) : true)) as typeof socket.write
        return socket
      },
    })
    await connection.open()
    const sent = connection.send(
      'Produce',
      { acks: 0, timeoutMs: 0, transactionalId: null, topicData: [] },
      { expectsAnswer: false },
    )
    await new Promise(setImmediate)
    connection.close()
    await assert.rejects(sent, KafkaJSConnectionClosedError)
  })
})
