// Listeners and connections over real sockets: order, back-pressure, limits, idle time, stop.
import assert from 'node:assert/strict'
import { SILENT_LOGGER } from '../logging.js'
import { nodeEnvironment } from '../node-environment.js'
import { RawClient } from '../testing/raw-client.js'
import type { Reply } from './connection.js'
import { type ConnectionLimits, ListenError, SocketServer } from './server.js'

const LIMITS: ConnectionLimits = {
  'connections.max.idle.ms': 600_000,
  'max.connections': 1000,
  'max.connections.per.ip': 1000,
  'max.connections.per.ip.overrides': new Map(),
  'max.connection.creation.rate': 2 ** 31 - 1,
  'socket.request.max.bytes': 1_000_000,
  'socket.listen.backlog.size': 50,
}

const frameOf = (text: string) => {
  const bytes = Buffer.from(text)
  const size = Buffer.alloc(4)
  size.writeInt32BE(bytes.length)
  return Buffer.concat([size, bytes])
}

describe('The socket server', () => {
  let server: SocketServer
  let clients: RawClient[]
  const begin = async (serve: (text: string) => Reply | Promise<Reply>, limits: Partial<ConnectionLimits> = {}) => {
    const environment = nodeEnvironment()
    server = new SocketServer({
      limits: { ...LIMITS, ...limits },
      ...environment,
      log: SILENT_LOGGER,
      serve: (frame, _, answered) => {
        const reply = serve(frame.toString())
        if (!(reply instanceof Promise)) return reply
        void reply.then(answered)
        return 'later'
      },
      mayOverlap: (frame) => frame.toString().startsWith('side by side'),
    })
    const { port } = await server.listen({ name: 'PLAINTEXT', host: '127.0.0.1', port: 0 })
    server.open()
    return port
  }
  const client = async (port: number) => {
    const one = await RawClient.connect(port)
    clients.push(one)
    return one
  }
  const next = async (one: RawClient) => (await one.frame())?.toString()
  const echo = (text: string): Reply => [frameOf(text)]

  beforeEach(() => {
    clients = []
  })
  afterEach(() => {
    for (const one of clients) one.end()
    server.destroy()
  })

  it('answers in the order of the requests, also when a later one is ready first', async () => {
    const slow: (() => void)[] = []
    const begun: string[] = []
    const port = await begin((text) => {
      begun.push(text)
      return text === 'slow' ? new Promise((resolve) => slow.push(() => resolve([frameOf(text)]))) : echo(text)
    })
    const one = await client(port)
    one.write(Buffer.concat([frameOf('first'), frameOf('slow'), frameOf('last')]))
    assert.equal(await next(one), 'first')
    assert.deepEqual(begun, ['first', 'slow'], 'one request is in flight at a time')
    slow[0]!()
    assert.equal(await next(one), 'slow')
    assert.equal(await next(one), 'last')
  })

  it('begins requests together that may overlap, and answers them in their order all the same', async () => {
    const waiting = new Map<string, () => void>()
    const begun: string[] = []
    const port = await begin((text) => {
      begun.push(text)
      return text.startsWith('side') ? new Promise((resolve) => waiting.set(text, () => resolve([frameOf(text)]))) : echo(text)
    })
    const one = await client(port)
    one.write(Buffer.concat(['side by side 1', 'side by side 2', 'alone', 'side by side 3'].map((text) => frameOf(text))))
    while (begun.length < 2) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(begun, ['side by side 1', 'side by side 2'], 'one that may not overlap waits for those before it')
    waiting.get('side by side 2')!()
    waiting.get('side by side 1')!()
    assert.equal(await next(one), 'side by side 1')
    assert.equal(await next(one), 'side by side 2')
    assert.equal(await next(one), 'alone')
    while (begun.length < 4) await new Promise((resolve) => setImmediate(resolve))
    waiting.get('side by side 3')!()
    assert.equal(await next(one), 'side by side 3')
  })

  it('takes frames that come byte by byte, and many in one piece', async () => {
    const port = await begin(echo)
    const one = await client(port)
    for (const byte of frameOf('piecemeal')) one.write(Buffer.of(byte))
    assert.equal(await next(one), 'piecemeal')
    const many = Array.from({ length: 500 }, (_, at) => `request ${at}`)
    one.write(Buffer.concat(many.map(frameOf)))
    for (const text of many) assert.equal(await next(one), text)
  })

  it('reads no further while a request is in flight and another one waits', async () => {
    let release = () => {}
    let begun = 0
    const port = await begin((text) =>
      begun++ === 0 ? new Promise((resolve) => (release = () => resolve(echo(text)))) : [frameOf(String(text.length))],
    )
    const one = await client(port)
    const big = frameOf('x'.repeat(900_000))
    one.write(frameOf('hold'))
    while (begun === 0) await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 40; i++) one.write(big)
    for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setImmediate(resolve))
    // The kernel's buffers are full: what is left stays with the client.
    assert.equal(one.socket.writableLength > 0, true)
    release()
    assert.equal(await next(one), 'hold')
    for (let i = 0; i < 40; i++) assert.equal(await next(one), '900000')
  })

  it('begins no further request while the client does not read its answers', async () => {
    let served = 0
    const answer = [frameOf('y'.repeat(1_000_000))]
    const port = await begin(() => {
      served++
      return answer
    })
    const one = await client(port)
    one.socket.pause()
    one.write(Buffer.concat(Array.from({ length: 200 }, () => frameOf('more'))))
    let before = -1
    while (before !== served) {
      before = served
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(served < 100, true, `${served} answers were made for a client that reads nothing`)
    one.socket.resume()
    for (let i = 0; i < 200; i++) assert.equal((await one.frame())?.length, 1_000_000)
    assert.equal(served, 200)
  })

  for (const [name, size] of [
    ['negative', -1],
    ['above the limit', 1_000_001],
  ] as const) {
    it(`closes a connection that announces a frame of ${name} size`, async () => {
      const port = await begin(echo)
      const one = await client(port)
      const head = Buffer.alloc(4)
      head.writeInt32BE(size)
      one.write(head)
      assert.equal(await one.frame(), null)
    })
  }

  it('sends the answers before a request that closes the connection, and nothing after', async () => {
    const port = await begin((text) => (text === 'bad' ? { close: 'bad' } : echo(text)))
    const one = await client(port)
    one.write(Buffer.concat([frameOf('good'), frameOf('bad'), frameOf('never')]))
    assert.equal(await next(one), 'good')
    assert.equal(await one.frame(), null)
  })

  it('serves nothing more while the answers before a close wait for a client that does not read', async () => {
    const served: string[] = []
    const port = await begin((text) => {
      served.push(text)
      return text === 'bad' ? { close: 'bad' } : [frameOf('y'.repeat(8_000_000))]
    })
    const one = await client(port)
    one.socket.pause()
    one.write(frameOf('large'))
    while (served.length < 1) await new Promise((resolve) => setImmediate(resolve))
    one.socket.resume()
    assert.equal((await one.frame())?.length, 8_000_000)
    one.socket.pause()
    one.write(Buffer.concat([frameOf('large'), frameOf('bad')]))
    one.socket.resume()
    assert.equal((await one.frame())?.length, 8_000_000)
    assert.equal(await one.frame(), null)
    one.write(frameOf('late'))
    assert.deepEqual(served, ['large', 'large', 'bad'])
  })

  it('sends no answer after a close, also when later requests ran beside the one that closes', async () => {
    const settle: (() => void)[] = []
    const port = await begin((text) => {
      const reply: Reply = text.endsWith('bad') ? { close: 'bad' } : [frameOf(text)]
      return new Promise((resolve) => settle.push(() => resolve(reply)))
    })
    const one = await client(port)
    one.write(Buffer.concat(['side by side 1', 'side by side bad', 'side by side 3'].map(frameOf)))
    while (settle.length < 3) await new Promise((resolve) => setImmediate(resolve))
    for (const answer of settle.reverse()) answer()
    assert.equal(await next(one), 'side by side 1')
    assert.equal(await one.frame(), null)
  })

  it('goes on with the next request when one wants no answer', async () => {
    const port = await begin((text) => (text === 'silent' ? 'none' : echo(text)))
    const one = await client(port)
    one.write(Buffer.concat([frameOf('silent'), frameOf('spoken')]))
    assert.equal(await next(one), 'spoken')
  })

  it('holds at most max.connections, and max.connections.per.ip of one address', async () => {
    const port = await begin(echo, { 'max.connections': 2 })
    await client(port)
    const second = await client(port)
    const third = await client(port)
    assert.equal(await third.frame(), null)
    second.end()
    while (server.connectionCount > 1) await new Promise((resolve) => setImmediate(resolve))
    const fourth = await client(port)
    fourth.write(frameOf('room again'))
    assert.equal(await next(fourth), 'room again')
    server.destroy()
    const other = await begin(echo, {
      'max.connections.per.ip': 5,
      'max.connections.per.ip.overrides': new Map([['127.0.0.1', 1]]),
    })
    await client(other)
    assert.equal(await (await client(other)).frame(), null)
  })

  it('closes what is idle for too long, but not a connection whose request still runs', async () => {
    let release = () => {}
    const port = await begin((text) => new Promise((resolve) => (release = () => resolve(echo(text)))), {
      'connections.max.idle.ms': 60,
    })
    const busy = await client(port)
    busy.write(frameOf('long poll'))
    const idle = await client(port)
    assert.equal(await idle.frame(), null)
    release()
    assert.equal(await next(busy), 'long poll')
    assert.equal(await busy.frame(), null)
  })

  it('lets connections above max.connection.creation.rate wait their turn', async () => {
    const port = await begin(echo, { 'max.connection.creation.rate': 20 })
    const started = performance.now()
    for (let i = 0; i < 30; i++) {
      const one = await client(port)
      one.write(frameOf('hello'))
    }
    await next(clients[0]!)
    assert.equal(performance.now() - started < 400, true, 'the first ones come at once')
    await next(clients[29]!)
    assert.equal(performance.now() - started > 400, true, 'the last ones wait')
  })

  it('tells a waiting request once when its client goes', async () => {
    let gone = 0
    let began = () => {}
    const beginning = new Promise<void>((resolve) => (began = resolve))
    const environment = nodeEnvironment()
    server = new SocketServer({
      limits: LIMITS,
      ...environment,
      log: SILENT_LOGGER,
      mayOverlap: () => false,
      serve: (_, connection, answered) => {
        connection.onGone(() => {
          gone++
          answered('none')
        })
        began()
        return 'later'
      },
    })
    const { port } = await server.listen({ name: 'PLAINTEXT', host: '127.0.0.1', port: 0 })
    server.open()
    const one = await client(port)
    one.write(frameOf('wait'))
    await beginning
    one.end()
    while (server.connectionCount > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(gone, 1)
  })

  it('lets requests in flight end when it closes, and leaves nothing behind', async () => {
    let release = () => {}
    let begun = 0
    const port = await begin((text) => {
      begun++
      return new Promise((resolve) => (release = () => resolve(echo(text))))
    })
    const one = await client(port)
    one.write(frameOf('finish me'))
    while (begun === 0) await new Promise((resolve) => setImmediate(resolve))
    const closing = server.close(5000)
    release()
    assert.equal(await next(one), 'finish me')
    assert.equal(await one.frame(), null)
    await closing
    await assert.rejects(RawClient.connect(port), /ECONNREFUSED/)
  })

  it('names the address when a port is taken', async () => {
    const port = await begin(echo)
    await assert.rejects(
      server.listen({ name: 'OTHER', host: '127.0.0.1', port }),
      (error) => error instanceof ListenError && error.code === 'EADDRINUSE' && error.endpoint.port === port,
    )
  })
})
