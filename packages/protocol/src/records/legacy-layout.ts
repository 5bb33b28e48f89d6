/**
 * Messages of magic 0 and 1, as Kafka wrote them before 0.11 and still reads them.
 *
 *   magic 0                          magic 1
 *    0 offset int64                   0 offset int64
 *    8 message size int32             8 message size int32    bytes that follow this field
 *   12 crc uint32                    12 crc uint32            CRC-32 from `magic` to the end
 *   16 magic int8                    16 magic int8
 *   17 attributes int8               17 attributes int8       |3 time type (magic 1)|2..0 codec|
 *   18 key length int32, key         18 timestamp int64
 *      value length int32, value     26 key length int32, key, value length int32, value
 *
 * A compressed message is a wrapper: its value holds messages. Its offset is that of the last one inside; offsets inside are
 * absolute in magic 0 and relative to the first in magic 1.
 */
import { int8, int32, int64, layout, uint32 } from '../layout.js'

export type LegacyMagic = 0 | 1

export const MESSAGE = layout({
  offset: int64,
  messageSize: int32,
  crc: uint32,
  magic: int8,
  attributes: int8,
})

export const MESSAGE_V1 = layout({
  offset: int64,
  messageSize: int32,
  crc: uint32,
  magic: int8,
  attributes: int8,
  timestamp: int64,
})

/** Where the key's length lies. */
export const headerSize = (magic: number): number => (magic === 0 ? MESSAGE : MESSAGE_V1).size

/** Bytes of a message with neither key nor value. */
export const smallestMessage = (magic: number): number => headerSize(magic) + 8
