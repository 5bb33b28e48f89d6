/**
 * CompressionCodecs: kafkajs' table of codecs by type. All four are built in; a program may put its own factory into the table
 * (kafkajs-snappy, kafkajs-lz4 and @kafkajs/zstd do), and then its codec is used for that type.
 */

import { compress, crc32c, decompress, iterateAnyBatches, RECORD_BATCH, RecordBatch } from '@mq/protocol'
import { CompressionTypes } from './enums.js'

export interface Codec {
  /** kafkajs hands its encoder, of which codecs read `buffer`. */
  compress(encoder: { buffer: Buffer }): Promise<Buffer> | Buffer
  decompress(buffer: Buffer): Promise<Buffer> | Buffer
}

type CompressedType = Exclude<CompressionTypes, CompressionTypes.None>

const builtIn = (type: CompressedType): (() => Codec) => {
  const codec: Codec = {
    compress: async ({ buffer }) => compress(type, buffer),
    decompress: async (buffer) => decompress(type, buffer),
  }
  return () => codec
}

const BUILT_IN: Readonly<Record<CompressedType, () => Codec>> = {
  [CompressionTypes.GZIP]: builtIn(CompressionTypes.GZIP),
  [CompressionTypes.Snappy]: builtIn(CompressionTypes.Snappy),
  [CompressionTypes.LZ4]: builtIn(CompressionTypes.LZ4),
  [CompressionTypes.ZSTD]: builtIn(CompressionTypes.ZSTD),
}

// biome-ignore lint/suspicious/noExplicitAny: codecs of kafkajs' plugins declare themselves as any
export const CompressionCodecs: { [Type in CompressedType]: () => any } = { ...BUILT_IN }

/** The codec that the program put in the place of ours; undefined where ours works. */
export function replacedCodec(type: number): Codec | undefined {
  const factory = CompressionCodecs[type as CompressedType]
  return factory === undefined || factory === BUILT_IN[type as CompressedType] ? undefined : (factory() as Codec)
}

const TYPES = Object.keys(BUILT_IN).map(Number) as CompressedType[]
const CODEC_BITS = 0b111

/** `batch` is one batch, not compressed; the answer is the same batch, compressed by the program's codec. */
export async function compressBatch(batch: Buffer, type: number, codec: Codec): Promise<Buffer> {
  const records = await codec.compress({ buffer: batch.subarray(RECORD_BATCH.size) })
  return withRecords(batch, records, type)
}

/** Has the program put a codec of its own into the table? */
export function needsDecompression(): boolean {
  return TYPES.some((type) => CompressionCodecs[type] !== BUILT_IN[type])
}

/** Fetched bytes in which no batch is left that needs one of the program's codecs. */
export async function decompressReplaced(fetched: Buffer): Promise<Buffer> {
  const parts: Buffer[] = []
  for (const batch of iterateAnyBatches(fetched)) {
    const codec = batch instanceof RecordBatch ? replacedCodec(batch.codec) : undefined
    // A damaged batch stays as it is: whoever decodes it says so.
    if (codec === undefined || !batch.crcIsValid()) parts.push(batch.slice())
    else {
      const bytes = batch.slice()
      parts.push(withRecords(bytes, await codec.decompress(bytes.subarray(RECORD_BATCH.size)), 0))
    }
  }
  return Buffer.concat(parts)
}

function withRecords(batch: Buffer, records: Buffer, type: number): Buffer {
  const bytes = Buffer.concat([batch.subarray(0, RECORD_BATCH.size), records])
  RECORD_BATCH.batchLength.set(bytes, 0, bytes.length - RECORD_BATCH.partitionLeaderEpoch.at)
  RECORD_BATCH.attributes.set(bytes, 0, (RECORD_BATCH.attributes.get(bytes, 0) & ~CODEC_BITS) | type)
  RECORD_BATCH.crc.set(bytes, 0, crc32c(bytes, RECORD_BATCH.attributes.at))
  return bytes
}
