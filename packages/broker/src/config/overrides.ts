/** `max.connections.per.ip.overrides` and its like: `name:number` pairs. */

/** The pairs, or the part that is none. */
export function parsePairs(text: string): ReadonlyMap<string, number> | { readonly wrong: string } {
  const pairs = new Map<string, number>()
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue
    const at = part.lastIndexOf(':')
    const count = Number(part.slice(at + 1))
    if (at < 1 || !/^\s*\d+\s*$/.test(part.slice(at + 1)) || !Number.isSafeInteger(count)) return { wrong: part }
    pairs.set(
      part
        .slice(0, at)
        .trim()
        .replace(/^\[|\]$/g, ''),
      count,
    )
  }
  return pairs
}
