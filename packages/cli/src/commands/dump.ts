/** mq dump: any file of a log directory, or a capture of frames, readably. */

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { type DumpEntry, kindOfLogFile, logFileEntries } from '@mq/log'
import { apiByKey, decodeBody, FrameReader, type FrameSizeError, readRequestHeader } from '@mq/protocol'
import type { Command } from 'commander'
import { printEntries } from '../entries.js'
import { dumpProgress } from '../progress.js'
import { commonOptions } from '../session.js'
import type { Terminal } from '../terminal.js'

/** A capture is read into memory at once. */
const LARGEST_FILE = 0x7fffffff
const LARGEST_FRAME = 256 * 1024 * 1024

export function dump(program: Command, terminal: Terminal): void {
  program
    .command('dump <file>')
    .description(
      'print a segment, index, snapshot or checkpoint file, or a capture of request frames (*.bin: 4-byte length, frame, …)',
    )
    .option('-r, --records', 'of a segment: the records too, not only the batches')
    .action(async (file: string, options: { records?: boolean }, self: Command) => {
      const { json } = commonOptions(self)
      const name = basename(file)
      const isCapture = kindOfLogFile(name) === undefined
      if (isCapture && !name.endsWith('.bin'))
        self.error(`error: "${name}" is neither a file of a log directory by its name nor a capture (*.bin)`)
      const bar = dumpProgress(terminal, `dump ${name}`, statSync(file).size)
      const entries = isCapture ? frameEntries(readWhole(file)) : logFileEntries(file, { ...options, progress: bar.moved })
      await printEntries(terminal, entries, { json, what: file })
      bar.end()
    })
}

function readWhole(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    if (size > LARGEST_FILE) throw new Error(`${file} has ${size} bytes: a capture may have ${LARGEST_FILE}`)
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
