/** `listeners`, `advertised.listeners` and `listener.security.protocol.map`: their syntax, and the rules that hold between them. */
import { nearestName } from '@mq/protocol'

export interface Endpoint {
  /** Upper case, as Kafka keeps it: `PLAINTEXT`. */
  readonly name: string
  /** Without brackets; empty for all interfaces. */
  readonly host: string
  readonly port: number
}

export interface Listeners {
  readonly listeners: readonly Endpoint[]
  /** Same names as the listeners; port 0 stands for the port that the listener of that name really got. */
  readonly advertised: readonly Endpoint[]
  readonly interBrokerListenerName: string
}

export interface ListenerConfig {
  readonly listeners: string
  readonly 'advertised.listeners': string | null
  readonly 'listener.security.protocol.map': string
  readonly 'inter.broker.listener.name': string | null
  /** Listeners of a KRaft controller: left out. */
  readonly 'controller.listener.names': string | null
}

export type ListenerProblem = { readonly kind: 'invalid'; readonly message: string }
const invalid = (message: string): ListenerProblem => ({ kind: 'invalid', message })
const SERVED = 'PLAINTEXT'

/** Reads and checks all of them together. The message of a problem says what to set. */
export function readListeners(config: ListenerConfig): Listeners | ListenerProblem {
  const protocols = readProtocolMap(config['listener.security.protocol.map'])
  if ('kind' in protocols) return protocols
  const ignored = new Set((config['controller.listener.names'] ?? '').split(/\s*,\s*/).map((name) => name.toUpperCase()))
  const all = readEndpoints('listeners', config.listeners)
  if ('kind' in all) return all
  const listeners = all.filter((endpoint) => !ignored.has(endpoint.name))
  if (listeners.length === 0) return invalid('listeners names no listener: give at least one, such as PLAINTEXT://:9092')
  for (const { name } of listeners) {
    const protocol = protocols.get(name)
    if (protocol === undefined) {
      const nearest = nearestName(name, protocols.keys())
      return invalid(
        `listeners: ${name} has no security protocol; add ${name}:PLAINTEXT to listener.security.protocol.map${nearest ? `, or write ${nearest}` : ''}`,
      )
    }
    if (protocol !== SERVED) {
      return invalid(`listeners: ${name} wants ${protocol}, and this version serves only PLAINTEXT; take it out of listeners`)
    }
  }
  const advertised = readAdvertised(config['advertised.listeners'], listeners, ignored)
  if ('kind' in advertised) return advertised
  const wanted = config['inter.broker.listener.name']?.toUpperCase() || listeners[0]!.name
  if (!advertised.some(({ name }) => name === wanted)) {
    return invalid(`inter.broker.listener.name: ${wanted} must be one of ${advertised.map(({ name }) => name).join(', ')}`)
  }
  return { listeners, advertised, interBrokerListenerName: wanted }
}

function readAdvertised(
  text: string | null,
  listeners: readonly Endpoint[],
  ignored: ReadonlySet<string>,
): readonly Endpoint[] | ListenerProblem {
  if (text === null || text === '') {
    const open = listeners.find(({ host }) => isAnyAddress(host) && host !== '')
    if (open === undefined) return listeners
    return invalid(
      `advertised.listeners cannot be ${open.host}, which no client can connect to (it is taken from listeners); ` +
        `set advertised.listeners=${open.name}://HOST:${open.port} with a name that clients can reach`,
    )
  }
  const all = readEndpoints('advertised.listeners', text, 'same port is fine')
  if ('kind' in all) return all
  const advertised = all.filter((endpoint) => !ignored.has(endpoint.name))
  for (const { name, host, port } of advertised) {
    if (isAnyAddress(host) && host !== '') {
      return invalid(
        `advertised.listeners cannot be ${host}, which no client can connect to; set ${name}://HOST:${port} with a name that clients can reach`,
      )
    }
    if (!listeners.some((listener) => listener.name === name)) {
      return invalid(`advertised.listeners: ${name} is not one of the listeners ${listeners.map((one) => one.name).join(', ')}`)
    }
  }
  const missing = listeners.find(({ name }) => !advertised.some((one) => one.name === name))
  if (missing && advertised.length === 0) return invalid('advertised.listeners names no listener')
  return advertised
}

function readProtocolMap(text: string): Map<string, string> | ListenerProblem {
  const map = new Map<string, string>()
  for (const pair of text.split(',').map((part) => part.trim())) {
    if (pair === '') continue
    const [name = '', protocol = '', more] = pair.split(':').map((part) => part.trim().toUpperCase())
    if (name === '' || more !== undefined || !['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'].includes(protocol)) {
      return invalid(
        `listener.security.protocol.map: ${pair} is not NAME:PROTOCOL with one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL`,
      )
    }
    map.set(name, protocol)
  }
  return map
}

function readEndpoints(key: string, text: string, samePort?: 'same port is fine'): Endpoint[] | ListenerProblem {
  const endpoints: Endpoint[] = []
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue
    const match = /^([A-Za-z][A-Za-z0-9_.-]*):\/\/(\[[0-9A-Fa-f:.]*(?:%[0-9A-Za-z]+)?\]|[^:/\s[\]]*):(-?\d{1,5})$/.exec(part)
    const port = Number(match?.[3])
    if (match === null || port > 65535 || port < 0) {
      return invalid(`${key}: ${part} is not NAME://host:port (an IPv6 address stands in brackets, a port is at most 65535)`)
    }
    endpoints.push({ name: match[1]!.toUpperCase(), host: match[2]!.replace(/^\[|\]$/g, ''), port })
  }
  const seen = new Set<string>()
  for (const { name, host, port } of endpoints) {
    // KIP-797: a name may stand twice, and a port too, only as one IPv4 and one IPv6 address.
    const family = host.includes(':') ? 6 : 4
    const others = samePort ? [`${name}`] : [`${name}/${family}`, `port ${port}/${family}`]
    for (const other of others) {
      if (seen.has(other) && other !== `port 0/${family}`) {
        return invalid(`${key}: each listener has a name and a port of its own, but ${other.replace(/\/\d$/, '')} stands twice`)
      }
      seen.add(other)
    }
  }
  return endpoints
}

function isAnyAddress(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::' || /^[0:]+$/.test(host)
}
