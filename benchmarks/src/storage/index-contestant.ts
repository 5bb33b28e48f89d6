/** The contestant of `bench:index` in Node.js: our offset index, and a plain binary search over the file's bytes. */

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ENTRY_BYTES, placesOf } from './index-entries.js'
import { obey } from './orders.js'
import { beginUsage, type Usage } from './usage.js'

/** What a segment does with its index; it is no part of the package's public face. */
interface OffsetIndex {
  lookup(offset: number): { readonly offset: number; readonly position: number }
}

const { OffsetIndex } = require(join(resolve(__dirname, '..', '..', '..'), 'packages', 'log', 'dist', 'offset-index.js')) as {
  OffsetIndex: new (baseOffset: number, maxBytes: number, bytes: Buffer) => OffsetIndex
}

type Lookup = (offset: number) => number

const lookups: Record<string, (bytes: Buffer) => Lookup> = {
  ours(bytes) {
    const index = new OffsetIndex(0, bytes.length, bytes)
    return (offset) => index.lookup(offset).position
  },

  plain: (bytes) => (offset) => {
    let low = 0
    let high = bytes.length / ENTRY_BYTES
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (bytes.readInt32BE(middle * ENTRY_BYTES) <= offset) low = middle
      else high = middle
    }
    return bytes.readInt32BE(low * ENTRY_BYTES + 4)
  },
}

const [, , path, name] = process.argv
const bytes = readFileSync(path!)
const lookup = lookups[name!]!(bytes)
const places = { random: placesOf(bytes, 'random'), tail: placesOf(bytes, 'tail') }

void obey({
  lookup(_, where, times): Usage {
    const offsets = places[where as keyof typeof places]
    const count = Number(times)
    let sum = 0
    const end = beginUsage()
    for (let at = 0; at < count; at++) sum += lookup(offsets[at & (offsets.length - 1)]!)
    return end(count, sum)
  },
})
