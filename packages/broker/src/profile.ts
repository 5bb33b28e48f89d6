/**
 * The two ways to configure a broker. Without a file: the standalone profile, safe defaults for one node on this machine. With a
 * server.properties: Kafka's own names and defaults. Overrides count last in both.
 */
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'

export interface StandaloneOptions {
  readonly directory: string
  readonly port: number
}

/** Whether this machine has the IPv6 loopback address. */
export function hasIpv6Loopback(): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'))
}

/** What the standalone profile sets; everything else has Kafka's default. */
export function standaloneProfile({ directory, port }: StandaloneOptions): Map<string, string> {
  const listeners = [`PLAINTEXT://127.0.0.1:${port}`]
  if (hasIpv6Loopback()) listeners.push(`PLAINTEXT://[::1]:${port}`)
  return new Map([
    ['listeners', listeners.join(',')],
    ['advertised.listeners', `PLAINTEXT://localhost:${port}`],
    ['log.dirs', resolve(directory)],
    ['mq.metadata.store', 'embedded'],
    ['offsets.topic.replication.factor', '1'],
    ['group.initial.rebalance.delay.ms', '0'],
    ['auto.create.topics.enable', 'true'],
  ])
}

/** Keys of a file written for KRaft that describe its controller; they are left out, with one warning. */
const KRAFT_KEYS = /^(process\.roles|controller\..*|metadata\.log\.dir)$/

export interface FileProfile {
  readonly given: Map<string, string>
  readonly warnings: readonly string[]
}

/** What a server.properties sets, without what only a KRaft controller would use. */
export function fileProfile(entries: ReadonlyMap<string, string>): FileProfile {
  const given = new Map(entries)
  const ignored: string[] = []
  if (!entries.has('process.roles')) return { given, warnings: [] }
  const controllers = new Set(
    (entries.get('controller.listener.names') ?? '').split(',').map((name) => name.trim().toUpperCase()),
  )
  for (const name of entries.keys()) {
    if (!KRAFT_KEYS.test(name)) continue
    ignored.push(name)
    given.delete(name)
  }
  for (const key of ['listeners', 'advertised.listeners']) {
    const parts = entries.get(key)?.split(',')
    const kept = parts?.filter((part) => !controllers.has(part.trim().split('://')[0]!.toUpperCase()))
    if (parts && kept && kept.length < parts.length) {
      ignored.push(`the listener ${[...controllers].join(', ')} of ${key}`)
      given.set(key, kept.join(','))
    }
  }
  return { given, warnings: [`there is no KRaft here: ignored ${ignored.join(', ')}`] }
}

/** `name=value`, as `--override` takes it; null when it is not that. */
export function parseOverride(text: string): readonly [string, string] | null {
  const at = text.indexOf('=')
  return at < 1 ? null : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
