import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { SlabPool } from '@mq/protocol'
import { canTakeHandle, intoSlabs, receive } from './receive.js'

/** A server that hands each accepted socket to the test, a client on it, and the frames that arrive. */
async function pair(adopt: (accepted: Socket) => Socket) {
  const arrived: string[] = []
  let accepted: Socket | undefined
  let closed: () => void = () => {}
  const whenClosed = new Promise<void>((resolve) => (closed = resolve))
  let whenArrived: () => void = () => {}
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    accepted = adopt(socket)
    accepted.on('close', () => closed())
    receive(accepted, 1000, {
      received: (frames) => {
        for (const frame of frames) arrived.push(frame.toString())
        whenArrived()
      },
      broken: () => accepted!.destroy(),
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect((server.address() as { port: number }).port, '127.0.0.1')
  const until = async (count: number): Promise<void> => {
    while (arrived.length < count) await new Promise<void>((resolve) => (whenArrived = resolve))
  }
  const close = async (): Promise<void> => {
    client.destroy()
    await whenClosed
    await new Promise((resolve) => server.close(resolve))
  }
  return { client, arrived, until, close, accepted: () => accepted! }
}

const slabs = { limitBytes: 1000, pool: new SlabPool({ poison: true }), isLent: () => false }

const frame = (text: string): Buffer => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)])

describe('receiving', () => {
  it('takes over handles on this version of Node', async () => {
    let possible = false
    const { close, until, client } = await pair((socket) => {
      possible = canTakeHandle(socket)
      return intoSlabs(socket, slabs)
    })
    client.write(frame('x'))
    await until(1)
    assert.equal(possible, true)
    await close()
  })

  for (const [way, adopt] of [
    ['into slabs', (socket: Socket) => intoSlabs(socket, slabs)],
    ['by data events', (socket: Socket) => socket],
  ] as const)
    it(`${way} delivers frames, lets the server close, and ends what cannot be followed`, async () => {
      const { client, arrived, until, close } = await pair(adopt)
      client.write(Buffer.concat([frame('one'), frame('two'), frame('three').subarray(0, 6)]))
      await until(2)
      client.write(frame('three').subarray(6))
      await until(3)
      assert.deepEqual(arrived, ['one', 'two', 'three'])
      client.write(Buffer.from('ffffffff', 'hex'))
      await new Promise((resolve) => client.once('close', resolve))
      await close()
    })
})
