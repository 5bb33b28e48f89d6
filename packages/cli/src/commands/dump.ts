/** mq dump: any file of a log directory, or a capture of frames, readably. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { type DumpEntry, kindOfLogFile, logFileEntries } from '@mq/log'
import { apiByKey, decodeBody, FrameReader, type FrameSizeError, readRequestHeader } from '@mq/protocol'
import type { Command } from 'commander'
import { progressOf } from '../progress.js'
import { commonOptions } from '../session.js'
import type { Terminal } from '../terminal.js'

/** Larger files are not read into memory at once; a segment of Kafka has at most 2 GiB − 1. */
const LARGEST_FILE = 0x7fffffff
const LARGEST_FRAME = 256 * 1024 * 1024

export function dump(program: Command, terminal: Terminal): void {
  program
    .command('dump <file>')
    .description(
      'print a segment, index, snapshot or checkpoint file, or a capture of request frames (*.bin: 4-byte length, frame, …)',
    )
    .option('-r, --records', 'of a segment: the records too, not only the batches')
    .action((file: string, options: { records?: boolean }, self: Command) => {
      const { json } = commonOptions(self)
      const name = basename(file)
      const kind = kindOfLogFile(name)
      if (kind === undefined && !name.endsWith('.bin'))
        self.error(`error: "${name}" is neither a file of a log directory by its name nor a capture (*.bin)`)
      const bytes = readWhole(file)
      const entries =
        kind === undefined ? frameEntries(bytes) : logFileEntries(name, bytes, { records: options.records === true })
      const progress = progressOf(terminal, `dump ${name}`, bytes.length)
      let problems = 0
      for (const entry of entries) {
        if ('problem' in entry) problems++
        if (typeof entry.position === 'number' && 'sizeInBytes' in entry) progress.at(entry.position)
        terminal.out(`${json ? JSON.stringify(entry, jsonValue) : textOf(entry)}\n`)
      }
      progress.end()
      if (problems > 0)
        throw new Error(`${file}: ${problems === 1 ? 'a problem was' : `${problems} problems were`} found, see above`)
    })
}

function readWhole(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    if (size > LARGEST_FILE)
      throw new Error(`${file} has ${size} bytes: files above ${LARGEST_FILE} are no files of a log directory`)
    const bytes = Buffer.allocUnsafe(size)
    for (let at = 0; at < size; ) {
      const read = readSync(descriptor, bytes, at, size - at, at)
      if (read === 0) return bytes.subarray(0, at)
      at += read
    }
    return bytes
  } finally {
    closeSync(descriptor)
  }
}

/** Request frames as a client sends them. Answers cannot be read alone: only their request says what they are. */
function* frameEntries(bytes: Buffer): Generator<DumpEntry> {
  const reader = new FrameReader(LARGEST_FRAME)
  let frames: Iterable<Buffer>
  try {
    frames = reader.push(bytes)
  } catch (error) {
    yield { problem: (error as FrameSizeError).message }
    return
  }
  for (const frame of frames) {
    try {
      const { apiKey, apiVersion, correlationId, clientId, bodyAt } = readRequestHeader(frame)
      const api = apiByKey(apiKey)
      if (api === undefined) yield { problem: `unknown API key ${apiKey}`, apiVersion, correlationId, clientId }
      else
        yield {
          api: api.name,
          version: apiVersion,
          correlationId,
          clientId,
          body: decodeBody(api.request, apiVersion, frame.subarray(bodyAt)),
        }
    } catch (error) {
      yield { problem: (error as Error).message }
    }
  }
}

/** Bytes as text where they are text, else as hex. */
function bytesText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) && !/\p{Cc}/u.test(text) ? JSON.stringify(text) : `0x${bytes.toString('hex')}`
}

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
