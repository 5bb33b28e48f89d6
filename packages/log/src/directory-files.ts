/**
 * What else lies in a log directory besides partitions and checkpoints: `meta.properties` (whose directory this is),
 * `partition.metadata` (which topic a folder belongs to) and the mark of a clean shutdown.
 */
import type { Problem } from './checkpoint.js'

export const META_PROPERTIES = 'meta.properties'
export const PARTITION_METADATA = 'partition.metadata'
export const CLEAN_SHUTDOWN = '.kafka_cleanshutdown'

/** `meta.properties` of version 0: a broker in ZooKeeper mode. */
export interface MetaProperties {
  readonly brokerId: number
  readonly clusterId: string
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (count: number): string => String(count).padStart(2, '0')

/** Java's way of writing a date, in UTC. */
function javaDate(now: number): string {
  const at = new Date(now)
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(':')
  return `${DAYS[at.getUTCDay()]} ${MONTHS[at.getUTCMonth()]} ${two(at.getUTCDate())} ${time} UTC ${at.getUTCFullYear()}`
}

export function metaPropertiesToText({ brokerId, clusterId }: MetaProperties, now: number): Buffer {
  return Buffer.from(`#\n#${javaDate(now)}\nbroker.id=${brokerId}\nversion=0\ncluster.id=${clusterId}\n`)
}

/** Lines `key=value` (or `key: value`); comments begin with # or !. The few escapes that ids can hold are undone. */
function readProperties(bytes: Buffer): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of bytes.toString('latin1').split(/\r\n|\r|\n/)) {
    const text = line.trimStart()
    if (text === '' || text.startsWith('#') || text.startsWith('!')) continue
    const match = /^((?:\\.|[^\\:=\s])+)\s*[:=\s]\s*(.*)$/.exec(text)
    if (match !== null) found.set(withoutEscapes(match[1]!), withoutEscapes(match[2]!))
  }
  return found
}

const withoutEscapes = (text: string): string => text.replace(/\\(.)/g, '$1')

export function readMetaProperties(bytes: Buffer): MetaProperties | Problem {
  const found = readProperties(bytes)
  const version = found.get('version')
  if (version === undefined) return { problem: 'no version' }
  if (version !== '0') return { problem: `version ${version} (a KRaft directory is not ours to open; ZooKeeper mode has 0)` }
  const brokerId = found.get('broker.id')
  const clusterId = found.get('cluster.id')
  if (brokerId === undefined || !/^\d+$/.test(brokerId)) return { problem: `broker.id ${brokerId}` }
  if (clusterId === undefined || clusterId === '') return { problem: 'no cluster.id' }
  return { brokerId: Number(brokerId), clusterId }
}

/** Kafka's is 43 bytes, without an end of line. */
export function partitionMetadataToText(topicId: string): Buffer {
  return Buffer.from(`version: 0\ntopic_id: ${topicId}`)
}

/** The topic id, or what is wrong with the file. */
export function readPartitionMetadata(bytes: Buffer): { readonly topicId: string } | Problem {
  const match = /^version: 0\r?\ntopic_id: ([A-Za-z0-9_-]{22})\s*$/.exec(bytes.toString('latin1'))
  return match === null ? { problem: 'malformed' } : { topicId: match[1]! }
}

/** The mark says which broker epoch wrote it; there is none in ZooKeeper mode. */
export function cleanShutdownText(): Buffer {
  return Buffer.from('{"version":0,"brokerEpoch":-1}')
}
