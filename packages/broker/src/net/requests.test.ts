// Golden answers of 3.9.1 to odd input, as far as frames, headers and ApiVersions go; what becomes of a handler's bug.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { APIS, decodeResponse, InvariantError } from '@mq/protocol'
import { CLOSE_CONNECTION, type Handler, handler, NO_RESPONSE } from '../handlers/handler.js'
import { HANDLERS } from '../handlers/index.js'
import { SILENT_LOGGER } from '../logging.js'
import { nodeEnvironment } from '../node-environment.js'
import type { BrokerServices } from '../services.js'
import { RawClient, requestFrame } from '../testing/raw-client.js'
import type { RequestTrace } from '../trace.js'
import { mayOverlap, RequestRouter } from './requests.js'
import { SocketServer } from './server.js'

const LIMITS = {
  'connections.max.idle.ms': 600_000,
  'max.connections': 1000,
  'max.connections.per.ip': 1000,
  'max.connections.per.ip.overrides': new Map<string, number>(),
  'max.connection.creation.rate': 2 ** 31 - 1,
  'socket.request.max.bytes': 104_857_600,
  'socket.listen.backlog.size': 50,
}

describe('Requests', () => {
  let server: SocketServer
  let fatal: Error[]
  let clients: RawClient[]
  const begin = async (handlers: readonly Handler[] = HANDLERS) => {
    fatal = []
    clients = []
    const router = new RequestRouter({
      handlers,
      services: () => ({ clock: nodeEnvironment().clock }) as BrokerServices,
      log: SILENT_LOGGER,
      onFatal: (error) => fatal.push(error),
    })
    server = new SocketServer({
      ...nodeEnvironment(),
      limits: LIMITS,
      log: SILENT_LOGGER,
      serve: (frame, connection, answered) => router.serve(frame, connection, answered),
      mayOverlap,
    })
    const { port } = await server.listen({ name: 'PLAINTEXT', host: '127.0.0.1', port: 0 })
    server.open()
    return async () => {
      const client = await RawClient.connect(port)
      clients.push(client)
      return client
    }
  }
  const sent = async (client: RawClient, bytes: Buffer) => {
    client.write(bytes)
    return (await client.frame())?.toString('hex') ?? 'closed'
  }
  afterEach(() => {
    for (const client of clients) client.end()
    server.destroy()
  })

  for (const version of [99, 5, 32767, -1]) {
    it(`answers ApiVersions v${version} in version 0 with error 35 and its own range`, async () => {
      const client = await (await begin())()
      assert.equal(await sent(client, requestFrame({ key: 18, version, flexible: true })), '00000007002300000001001200000004')
    })
  }

  it('answers ApiVersions v3 with a bad client name by error 42 in version 3, with header version 0', async () => {
    const client = await (await begin())()
    const body = Buffer.from('\x04a b\x021\x00', 'latin1')
    assert.equal(await sent(client, requestFrame({ key: 18, version: 3, flexible: true, body })), '00000007002a010000000000')
  })

  it('answers ApiVersions from the list of handlers, within what 3.9.1 offers', async () => {
    const client = await (await begin())()
    for (const version of [0, 1, 2, 3, 4]) {
      const answer = await client.ask('ApiVersions', version, { clientSoftwareName: 'raw', clientSoftwareVersion: '1' })
      assert.equal(answer.errorCode, 0)
      assert.deepEqual(
        answer.apiKeys.map(({ apiKey }) => apiKey),
        HANDLERS.map(({ api }) => APIS[api].key).sort((a, b) => a - b),
      )
      for (const { apiKey, minVersion, maxVersion } of answer.apiKeys) {
        const api = Object.values(APIS).find(({ key }) => key === apiKey)!
        assert.deepEqual([minVersion, maxVersion], api.versions.live, api.name)
      }
      assert.equal(answer.finalizedFeaturesEpoch, version >= 3 ? 0 : -1)
    }
  })

  for (const [what, bytes] of [
    ['another key with an unknown version', requestFrame({ key: 3, version: 99 })],
    ['a version below the lowest', requestFrame({ key: 3, version: -1 })],
    ['an unknown key', requestFrame({ key: 999, version: 0 })],
    ['a key between brokers', requestFrame({ key: 4, version: 0, body: Buffer.alloc(4) })],
    ['a transaction, of which there are none yet', requestFrame({ key: 24, version: 0, body: Buffer.alloc(40) })],
    ['a frame size of -1', Buffer.from('ffffffff', 'hex')],
    ['a frame size of 0', Buffer.from('00000000', 'hex')],
    ['a frame size above socket.request.max.bytes', Buffer.from('06400001', 'hex')],
    ['a frame shorter than a header', Buffer.from('00000003000300', 'hex')],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    ['TLS', Buffer.concat([Buffer.from('160301020001000001fc0303', 'hex'), Buffer.alloc(50)])],
    ['an array length of 2^31-1', requestFrame({ key: 3, version: 1, body: Buffer.from('7fffffff', 'hex') })],
    ['a string that is not there', requestFrame({ key: 3, version: 1, body: Buffer.from('000000017530', 'hex') })],
    ['a client id that is not there', Buffer.from('0000000a000300010000000775300000', 'hex').subarray(0, 14)],
  ] as const) {
    it(`closes the connection on ${what}, and answers nothing`, async () => {
      const client = await (await begin())()
      assert.equal(await sent(client, bytes), 'closed')
      assert.deepEqual(fatal, [])
    })
  }

  it('holds no memory for a frame that was announced and never comes', async () => {
    const connect = await begin()
    const before = process.memoryUsage()
    for (let i = 0; i < 50; i++) (await connect()).write(Buffer.from('06400000', 'hex'))
    const last = await connect()
    await last.ask('ApiVersions', 0, {})
    const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().external - before.arrayBuffers - before.external
    assert.equal(grown < 16_000_000, true, `${grown} bytes for 50 empty promises of 100 MB`)
  })

  it('passes over what follows a request in its frame', async () => {
    const echo = handler('Metadata', { versions: '0-12' }, () => ({ clusterId: 'here' }))
    const client = await (await begin([echo]))()
    client.write(requestFrame({ key: 3, version: 2, body: Buffer.from('00000000cafebabecafebabe', 'hex') }))
    const frame = (await client.frame())!
    assert.equal(decodeResponse({ api: 'Metadata', version: 2, frame }).body.clusterId, 'here')
  })

  it('answers pipelined requests in order, without those that want no answer', async () => {
    let pending = () => {}
    const handlers = [
      handler('Produce', { versions: '0-11' }, () => NO_RESPONSE),
      handler('Metadata', { versions: '0-12' }, () => new Promise((resolve) => (pending = () => resolve({ clusterId: 'slow' })))),
      handler('Heartbeat', { versions: '0-4' }, () => ({ errorCode: 0 })),
    ]
    const client = await (await begin(handlers))()
    const produce = Buffer.from('ffff0000000003e800000000', 'hex')
    client.write(
      Buffer.concat([
        requestFrame({ key: 0, version: 3, correlationId: 1, body: produce }),
        requestFrame({ key: 3, version: 1, correlationId: 2, body: Buffer.alloc(4) }),
        requestFrame({ key: 12, version: 0, correlationId: 3, body: Buffer.alloc(8) }),
      ]),
    )
    while (pending.length === 0 && String(pending) === '() => { }') await new Promise((resolve) => setImmediate(resolve))
    pending()
    assert.equal((await client.frame())?.readInt32BE(0), 2)
    assert.equal((await client.frame())?.readInt32BE(0), 3)
  })

  it('closes when a handler asks for it', async () => {
    const client = await (await begin([handler('Produce', { versions: '0-11' }, () => CLOSE_CONNECTION)]))()
    assert.equal(
      await sent(client, requestFrame({ key: 0, version: 3, body: Buffer.from('ffff0000000003e800000000', 'hex') })),
      'closed',
    )
  })

  for (const [how, fail] of [
    [
      'throws',
      () => {
        throw new Error('a bug')
      },
    ],
    ['rejects', () => Promise.reject(new Error('a bug'))],
  ] as const) {
    it(`answers UNKNOWN_SERVER_ERROR, or closes, when a handler ${how}; the next connection is served`, async () => {
      const connect = await begin([
        handler('Heartbeat', { versions: '0-4' }, fail),
        handler('Metadata', { versions: '0-12' }, fail),
        handler('SyncGroup', { versions: '0-5' }, () => ({ errorCode: 0 })),
      ])
      const heartbeat = await connect()
      assert.equal((await heartbeat.ask('Heartbeat', 0, {})).errorCode, -1)
      const metadata = await connect()
      await assert.rejects(metadata.ask('Metadata', 1, {}), /closed/)
      assert.equal((await (await connect()).ask('SyncGroup', 0, {})).errorCode, 0)
      assert.deepEqual(fatal, [])
    })
  }

  it('answers when a handler gives what cannot be encoded', async () => {
    const broken = handler('Heartbeat', { versions: '0-4' }, () => ({ errorCode: 'many' as unknown as number }))
    const client = await (await begin([broken]))()
    assert.equal((await client.ask('Heartbeat', 0, {})).errorCode, -1)
  })

  it('tells a tracer of each request what became of it', async () => {
    const traces: RequestTrace[] = []
    const listen = (trace: unknown) => void traces.push(trace as RequestTrace)
    subscribe('mq.broker.request', listen)
    const connect = await begin([
      handler('Heartbeat', { versions: '0-4' }, () => Promise.resolve({ errorCode: 0 })),
      handler('Produce', { versions: '0-11' }, () => CLOSE_CONNECTION),
    ])
    const bystander = await connect()
    await bystander.ask('Heartbeat', 0, {})
    const client = await connect()
    const own = `:${client.socket.localPort}-`
    await client.ask('Heartbeat', 0, {})
    client.write(requestFrame({ key: 0, version: 3, body: Buffer.from('ffff0000000003e800000000', 'hex') }))
    await client.closed()
    unsubscribe('mq.broker.request', listen)
    // The channel is the process's: another test's broker may still be at work.
    const heard = traces.filter(({ connectionId }) => connectionId.includes(own))
    assert.deepEqual(
      heard.map(({ api, version, answer, clientId }) => [api, version, answer, clientId]),
      [
        ['Heartbeat', 0, 10, 'raw'],
        ['Produce', 3, 'closed', 'probe'],
      ],
    )
  })

  it('reports a broken invariant', async () => {
    const broken = handler('Heartbeat', { versions: '0-4' }, () => {
      throw new InvariantError('this cannot be')
    })
    const client = await (await begin([broken]))()
    assert.equal((await client.ask('Heartbeat', 0, {})).errorCode, -1)
    assert.deepEqual(
      fatal.map(({ message }) => message),
      ['this cannot be'],
    )
  })
})
