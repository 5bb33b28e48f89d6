// Which ports a broker ends up with when some are taken.
import assert from 'node:assert/strict'
import { SlabPool } from '@mq/protocol'
import { openListeners } from './listening.js'
import { SILENT_LOGGER } from './logging.js'
import { ManualTime } from './manual-time.js'
import { type ConnectionLimits, SocketServer } from './net/server.js'
import type { Network } from './ports.js'

const LIMITS: ConnectionLimits = {
  'connections.max.idle.ms': -1,
  'max.connections': 10,
  'max.connections.per.ip': 10,
  'max.connections.per.ip.overrides': new Map(),
  'max.connection.creation.rate': 2 ** 31 - 1,
  'socket.request.max.bytes': 1000,
  'socket.listen.backlog.size': 5,
}

describe('Opening listeners', () => {
  /** Gives the ports of `free` to whoever takes any; on `::1` those of `takenOnIpv6` are taken. */
  const opening = async (port: number, free: number[], takenOnIpv6: readonly number[]) => {
    const open = new Set<string>()
    const network: Network = {
      async listen(options) {
        const got = options.port === 0 ? free.shift()! : options.port
        const key = `${options.host} ${got}`
        if (open.has(key) || (options.host === '::1' && takenOnIpv6.includes(got))) {
          throw Object.assign(new Error('address in use'), { code: 'EADDRINUSE' })
        }
        open.add(key)
        return { address: options.host, port: got, close: async () => void open.delete(key) }
      },
    }
    const time = new ManualTime()
    const server = new SocketServer({
      limits: LIMITS,
      clock: time,
      timers: time,
      network,
      memory: new SlabPool(),
      log: SILENT_LOGGER,
      serve: () => 'none',
      mayOverlap: () => false,
    })
    const listeners = ['127.0.0.1', '::1'].map((host) => ({ name: 'PLAINTEXT', host, port }))
    const advertised = [{ name: 'PLAINTEXT', host: 'localhost', port }]
    const { bootstrap } = await openListeners(server, { listeners, advertised, interBrokerListenerName: 'PLAINTEXT' })
    return { bootstrap, open: [...open] }
  }

  it('takes another port for both addresses when the first choice is taken on one of them, and leaves none open', async () => {
    assert.deepEqual(await opening(0, [5000, 5001, 5002], [5000, 5001]), {
      bootstrap: 'localhost:5002',
      open: ['127.0.0.1 5002', '::1 5002'],
    })
  })

  it('gives up on a port that the user chose', async () => {
    await assert.rejects(opening(5000, [], [5000]), /cannot listen on ::1, port 5000: the port is taken/)
  })

  it('gives up after some attempts', async () => {
    const free = Array.from({ length: 100 }, (_, at) => 5000 + at)
    await assert.rejects(opening(0, free, [...free]), /the port is taken/)
    assert.equal(free.length, 80)
  })
})
