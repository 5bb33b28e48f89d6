// A proxy that does what a broken broker would do: it drops, changes, delays or invents answers. Checkers are shown red with it.
import { connect, createServer } from 'node:net'
import { FrameReader } from '@mq/protocol'

/**
 * Passes requests on and answers back, each as `spoil(answer, number)` says: frames to send instead (without sizes), null to say nothing,
 * `'close'` to close. `spoil` may be asynchronous. Returns `{ port, close }`.
 */
export async function spoilingProxy(upstreamPort, spoil) {
  let number = 0
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: upstreamPort, host: '127.0.0.1', noDelay: true })
    const reader = new FrameReader(2 ** 28)
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', async (chunk) => {
      for (const frame of reader.push(chunk)) {
        const instead = await spoil(frame, number++)
        if (instead === 'close') client.destroy()
        else for (const each of instead ?? []) client.write(sized(each))
      }
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return { port: server.address().port, close: () => server.close() }
}

function sized(frame) {
  const size = Buffer.alloc(4)
  size.writeInt32BE(frame.length)
  return Buffer.concat([size, frame])
}
