/** The table of codecs, and compressing and decompressing by it within a limit. */
import { CompressionError } from './errors.js'
import type { Lz4Framing } from './lz4.js'

export { CompressionError, OverLimitError } from './errors.js'
export { useCodecs, type Way } from './ways.js'

// Loaded when a batch first needs them: native addons and WebAssembly together cost a start 20 ms and 15 MB.
const codecs = {
  gzip: () => require('./gzip.js') as typeof import('./gzip.js'),
  lz4: () => require('./lz4.js') as typeof import('./lz4.js'),
  snappy: () => require('./snappy.js') as typeof import('./snappy.js'),
  zstd: () => require('./zstd.js') as typeof import('./zstd.js'),
}

export interface Levels {
  readonly min: number
  readonly max: number
  readonly default: number
}

/** By name, as in `compression.type`; ids as in a batch's attributes; levels as in `compression.*.level` (KIP-390). */
export const CODECS = {
  none: { id: 0, levels: null },
  /** -1 is zlib's own choice, 6. */
  gzip: { id: 1, levels: { min: 1, max: 9, default: -1 } },
  snappy: { id: 2, levels: null },
  /** Levels are accepted and have no effect on what is written: the libraries know one. */
  lz4: { id: 3, levels: { min: 1, max: 17, default: 9 } },
  zstd: { id: 4, levels: { min: -131072, max: 22, default: 3 } },
} as const satisfies { readonly [name: string]: { readonly id: number; readonly levels: Levels | null } }

export type CodecName = keyof typeof CODECS

const NAMES = Object.keys(CODECS) as CodecName[]

/** Undefined for the ids 5 to 7, which have no codec. */
export const codecName = (id: number): CodecName | undefined => NAMES[id]

/** What the records of one batch may grow to when decompressed, unless the caller says otherwise. */
export const MAX_DECOMPRESSED_BYTES = 64 * 1024 * 1024

export interface DecompressLimits {
  /** Most bytes that may come out; default 64 MiB. */
  readonly maxOutputBytes?: number
  /** How lz4 frames were written; default `standard`. */
  readonly lz4Framing?: Lz4Framing
}

function nameOf(codec: CodecName | number): CodecName {
  const name = typeof codec === 'number' ? NAMES[codec] : codec
  if (name === undefined) throw new CompressionError('UNSUPPORTED_COMPRESSION_TYPE', `compression codec ${codec}`)
  return name
}

/** @param level within the codec's levels; default is the codec's. */
export function compress(codec: CodecName | number, bytes: Buffer, level?: number, lz4Framing: Lz4Framing = 'standard'): Buffer {
  switch (nameOf(codec)) {
    case 'none':
      return bytes
    case 'gzip':
      return codecs.gzip().gzip(bytes, level ?? CODECS.gzip.levels.default)
    case 'snappy':
      return codecs.snappy().snappyCompress(bytes)
    case 'lz4':
      return codecs.lz4().lz4Compress(bytes, lz4Framing)
    case 'zstd':
      return codecs.zstd().zstdCompress(bytes, level ?? CODECS.zstd.levels.default)
  }
}

/**
 * Never gives, nor holds on the way, much more than the limit.
 * @throws CompressionError INVALID_RECORD for damaged data or too much of it, UNSUPPORTED_COMPRESSION_TYPE
 */
export function decompress(codec: CodecName | number, bytes: Buffer, limits: DecompressLimits = {}): Buffer {
  const maxOutputBytes = limits.maxOutputBytes ?? MAX_DECOMPRESSED_BYTES
  switch (nameOf(codec)) {
    case 'none':
      return bytes
    case 'gzip':
      return codecs.gzip().gunzip(bytes, maxOutputBytes)
    case 'snappy':
      return codecs.snappy().snappyDecompress(bytes, maxOutputBytes)
    case 'lz4':
      return codecs.lz4().lz4Decompress(bytes, maxOutputBytes, limits.lz4Framing ?? 'standard')
    case 'zstd':
      return codecs.zstd().zstdDecompress(bytes, maxOutputBytes)
  }
}
