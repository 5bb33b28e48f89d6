/** The network of this machine: listeners whose connections read into slabs. */
import { createServer, type Server } from 'node:net'
import type { ListenOptions, Network, NetworkListener } from '../ports.js'
import { intoSlabs } from './receive.js'

export const nodeNetwork: Network = {
  async listen(options: ListenOptions): Promise<NetworkListener> {
    const { maxFrameBytes: limitBytes, memory: pool, isLent } = options
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: false }, (socket) =>
      options.accepted(intoSlabs(socket, { limitBytes, pool, isLent })),
    )
    await listening(server, options)
    server.on('error', (error) => options.failed(error))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no address')
    return {
      address: address.address,
      port: address.port,
      close: () => new Promise((resolve) => server.close(() => resolve())),
    }
  },
}

function listening(server: Server, { host, port, backlog }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: host === '' ? undefined : host, port, backlog }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}
