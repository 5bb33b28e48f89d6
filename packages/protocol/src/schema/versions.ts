// Version ranges as Kafka writes them: '3+', '1-4', '2', 'none'.

export type Versions = `${number}+` | `${number}-${number}` | `${number}` | 'none'
export type Range = readonly [min: number, max: number]

const HIGHEST = 0x7fff
const EMPTY: Range = [0, -1]
const parsed = new Map<string, Range>([['none', EMPTY]])

export function rangeOf(versions: Versions): Range {
  let range = parsed.get(versions)
  if (range === undefined) {
    const [min, max] = versions.split('-')
    range = versions.endsWith('+') ? [Number.parseInt(versions, 10), HIGHEST] : [Number(min), Number(max ?? min)]
    parsed.set(versions, range)
  }
  return range
}

export function contains(versions: Versions, version: number): boolean {
  const [min, max] = rangeOf(versions)
  return version >= min && version <= max
}
