// Reads a tar archive held in memory: enough of ustar, GNU long names and pax for the archives in this folder.
'use strict'

const BLOCK = 512

/** Yields `{ name, kind: 'file' | 'directory', modifiedSeconds, bytes }` for every entry of `archive` (not compressed). */
function* tarEntries(archive) {
  let override = {}
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK)
    if (header.every((byte) => byte === 0)) return
    const size = octal(header, 124, 12)
    const type = String.fromCharCode(header[156])
    const bytes = archive.subarray(at + BLOCK, at + BLOCK + size)
    if (bytes.length < size) throw new Error(`tar: the entry at byte ${at} is cut off`)
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    if (type === 'L') override.path = text(bytes, 0, bytes.length)
    else if (type === 'x') override = { ...override, ...paxRecords(bytes) }
    else if (type === '0' || type === '\0' || type === '5') {
      const modifiedSeconds = override.mtime === undefined ? octal(header, 136, 12) : Number(override.mtime)
      yield { name: override.path ?? ustarName(header), kind: type === '5' ? 'directory' : 'file', modifiedSeconds, bytes }
      override = {}
    } else if (type !== 'g') throw new Error(`tar: an entry of type ${type} is not expected here`)
  }
}

function ustarName(header) {
  const name = text(header, 0, 100)
  const prefix = text(header, 257, 6) === 'ustar' ? text(header, 345, 155) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

/** A pax record is "LENGTH KEY=VALUE\n", the length counting all of it. */
function paxRecords(bytes) {
  const records = {}
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const length = Number(bytes.toString('latin1', at, space))
    const [key, ...value] = bytes.toString('utf8', space + 1, at + length - 1).split('=')
    records[key] = value.join('=')
    at += length
  }
  return records
}

function text(bytes, at, length) {
  const end = bytes.subarray(at, at + length).indexOf(0)
  return bytes.toString('utf8', at, end < 0 ? at + length : at + end)
}

function octal(bytes, at, length) {
  return Number.parseInt(text(bytes, at, length).trim() || '0', 8)
}

module.exports = { tarEntries }
