/** Takes out of an answer what differs from run to run, and makes records readable, so that answers can be compared as text. */
import { describeRecords } from './data-plane-script.js'

/** Names for what is drawn anew each time: the first session is `session 1`, and so on. */
export class Aliases {
  readonly #seen = new Map<string, string>()
  constructor(readonly topicIds: ReadonlyMap<string, string>) {}
  of(kind: string, value: unknown): string {
    const key = `${kind} ${value}`
    const alias = this.#seen.get(key) ?? `${kind} ${[...this.#seen.keys()].filter((other) => other.startsWith(kind)).length + 1}`
    this.#seen.set(key, alias)
    return alias
  }
}

/** Later than any timestamp of the script. */
const NOW = 1_750_000_000_000

export function normalize(api: string, answer: unknown, aliases: Aliases): unknown {
  const visit = (value: unknown, name: string): unknown => {
    if (Buffer.isBuffer(value)) return recordsOf(value)
    if (Array.isArray(value)) return value.map((item) => visit(item, name))
    if (value !== null && typeof value === 'object') {
      const entries = Object.entries(value).map(([key, inner]) => [key, visit(inner, key)] as const)
      return Object.fromEntries(entries.filter(([key]) => key !== 'unknownTaggedFields'))
    }
    if (name === 'sessionId' && value !== 0) return aliases.of('session', value)
    if (name === 'topicId') return aliases.topicIds.get(String(value)) ?? value
    if (name === 'logDir') return aliases.of('directory', value)
    if (name === 'totalBytes' || name === 'usableBytes') return Number(value) > 0 ? 'some' : value
    if (name === 'producerId' && api === 'InitProducerId' && Number(value) >= 0) return aliases.of('producer', value)
    if (name === 'logAppendTimeMs' && Number(value) > NOW) return 'now'
    // The reasons are in our own words.
    if ((name === 'errorMessage' || name === 'batchIndexErrorMessage') && value !== null) return 'a reason'
    return value
  }
  const visited = visit(answer, '')
  if (api === 'DescribeLogDirs') forgetCompressedSizes(visited)
  if (api !== 'Fetch') sort(visited)
  return visited
}

/** What Kafka sends behind the last whole batch is of use to nobody: a piece of the next one, or filling. */
function recordsOf(bytes: Buffer): string[] {
  const lines = describeRecords(bytes)
  return lines.length > 1 ? lines.filter((line) => !line.startsWith('cut')) : lines
}

/** Two compressors make different bytes of the same records. */
function forgetCompressedSizes(answer: unknown): void {
  const { results } = answer as { results: { topics: { name: string; partitions: { partitionSize: unknown }[] }[] }[] }
  for (const { name, partitions } of results.flatMap(({ topics }) => topics)) {
    if (COMPRESSED.has(name)) for (const partition of partitions) partition.partitionSize = 'some'
  }
}
const COMPRESSED: ReadonlySet<string> = new Set(['old', 'stored-zstd'])

/** Apache lists topics and partitions of these answers in the order of hash maps. */
const UNORDERED = ['responses.name', 'partitionResponses.index', 'topics.name', 'partitions.partitionIndex']

function sort(value: unknown, name = ''): void {
  if (Array.isArray(value)) {
    const by = UNORDERED.map((path) => path.split('.')).find(
      ([list, key]) => list === name && value.every((item) => key! in item),
    )?.[1]
    if (by !== undefined) value.sort((a, b) => (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0))
    for (const item of value) sort(item)
  } else if (value !== null && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) sort(inner, key)
  }
}
