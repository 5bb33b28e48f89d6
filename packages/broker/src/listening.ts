/** Opens all listeners, and works out what clients and other brokers are told to connect to. */
import { hostname } from 'node:os'
import type { Endpoint, Listeners } from './listeners.js'
import type { EndpointImage } from './metadata/image.js'
import { type Bound, ListenError, type SocketServer } from './net/server.js'
import { StartError } from './start-error.js'

export interface Listening {
  readonly bound: readonly Bound[]
  /** For the registration: real ports, hosts that can be reached. */
  readonly endpoints: readonly EndpointImage[]
  /** `host:port` of the first advertised listener. */
  readonly bootstrap: string
}

/** Attempts to find a port that is free for all addresses of a listener that takes any. */
const PORT_ATTEMPTS = 20

/** Rejects with a StartError that names the address; the server is closed by the caller. */
export async function openListeners(server: SocketServer, listeners: Listeners): Promise<Listening> {
  const bound = await bindAll(server, listeners.listeners)
  const endpoints = listeners.advertised.map(({ name, host, port }) => ({
    listenerName: name,
    securityProtocol: 'PLAINTEXT',
    host: host === '' ? hostname() : host,
    port: port === 0 ? bound.find((one) => one.name === name)!.port : port,
  }))
  const { host, port } = endpoints[0]!
  return { bound, endpoints, bootstrap: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}` }
}

async function bindAll(server: SocketServer, endpoints: readonly Endpoint[]): Promise<Bound[]> {
  for (let attempt = 1; ; attempt++) {
    const bound: Bound[] = []
    try {
      for (const endpoint of endpoints) {
        const sameName = bound.find(({ name }) => name === endpoint.name)
        // One listener on an IPv4 and an IPv6 address has one port (KIP-797).
        const port = endpoint.port === 0 && sameName !== undefined ? sameName.port : endpoint.port
        bound.push(await server.listen({ ...endpoint, port }))
      }
      return bound
    } catch (error) {
      if (!(error instanceof ListenError)) throw error
      // The port that the system chose for the first address may be taken on the second: another choice may do.
      const isChosen = endpoints.some(({ name, host, port }) => {
        return port === 0 && name === error.endpoint.name && host === error.endpoint.host
      })
      if (!isChosen || error.code !== 'EADDRINUSE' || attempt === PORT_ATTEMPTS) {
        throw new StartError(lineFor(error), 1, { cause: error })
      }
      server.unlisten()
    }
  }
}

function lineFor({ endpoint, code, message }: ListenError): string {
  const address = `${endpoint.host === '' ? 'all interfaces' : endpoint.host}, port ${endpoint.port}`
  const instead = 'choose another one with --override listeners=PLAINTEXT://HOST:PORT (and advertised.listeners)'
  switch (code) {
    case 'EADDRINUSE':
      return `cannot listen on ${address}: the port is taken; ${instead}`
    case 'EACCES':
      return `cannot listen on ${address}: no permission for this port; ${instead}`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `cannot listen on ${address}: this machine has no such address; ${instead}`
    default:
      return `cannot listen on ${address}: ${message}; ${instead}`
  }
}
