/** How entries of files are printed: one a line, as text or as JSON. */
import type { DumpEntry } from '@mq/log'
import type { Terminal } from './terminal.js'

/** @throws Error when some of the entries told of a problem */
export async function printEntries(
  terminal: Terminal,
  entries: Iterable<DumpEntry> | AsyncIterable<DumpEntry>,
  { json, what }: { json: boolean; what: string },
): Promise<void> {
  let problems = 0
  for await (const entry of entries) {
    if ('problem' in entry) problems++
    terminal.out(`${entryText(entry, json)}\n`)
  }
  if (problems > 0) throw new Error(`${what}: ${problems === 1 ? 'a problem was' : `${problems} problems were`} found, see above`)
}

function entryText(entry: DumpEntry, json: boolean): string {
  return json ? JSON.stringify(entry, jsonValue) : textOf(entry)
}

/** Bytes as text where they are text, else as hex. */
function bytesText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) && !/\p{Cc}/u.test(text) ? JSON.stringify(text) : `0x${bytes.toString('hex')}`
}

/** Bytes as base64, integers beyond 2^53 as text. */
function jsonValue(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  const buffer = value as { type?: string; data?: number[] } | null
  return buffer?.type === 'Buffer' && Array.isArray(buffer.data) ? Buffer.from(buffer.data).toString('base64') : value
}

function textOf(entry: DumpEntry): string {
  return Object.entries(entry)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join('  ')
}

function valueText(value: unknown): string {
  if (Buffer.isBuffer(value)) return bytesText(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([name, each]) => `${name}: ${valueText(each)}`)
      .join(', ')} }`
  return String(value)
}
