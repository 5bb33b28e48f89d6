/** Writes message sets of magic 0 and 1, for clients and tests that speak the old formats. */
import { CODECS, type CodecName, compress } from '../compression/index.js'
import { crc32 } from '../crc.js'
import { LOG_APPEND_TIME_FLAG, LOG_OVERHEAD, type TimestampType } from './layout.js'
import { headerSize, type LegacyMagic, MESSAGE, MESSAGE_V1, smallestMessage } from './legacy-layout.js'

export interface MessageSetOptions {
  readonly magic: LegacyMagic
  /** Other than none: all messages go into one wrapper. zstd came after these formats. */
  readonly codec?: Exclude<CodecName, 'zstd'>
  /** Of magic 1; default CreateTime. */
  readonly timestampType?: TimestampType
  /** With LogAppendTime: the time of all messages. */
  readonly logAppendTime?: number | bigint
}

export interface AppendMessage {
  readonly offset: number
  readonly timestamp: number | bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
}

export class MessageSetBuilder {
  private readonly messages: Buffer[] = []
  private readonly codec: Exclude<CodecName, 'zstd'>
  private firstOffset = 0
  private lastOffset = 0
  private maxTimestamp: number | bigint = -1

  constructor(private readonly options: MessageSetOptions) {
    this.codec = options.codec ?? 'none'
  }

  append({ offset, timestamp, key, value }: AppendMessage): void {
    const { magic } = this.options
    if (this.messages.length === 0) this.firstOffset = offset
    else if (offset <= this.lastOffset) throw new RangeError(`offset ${offset} after ${this.lastOffset}`)
    this.lastOffset = offset
    if (timestamp > this.maxTimestamp) this.maxTimestamp = timestamp
    const relative = magic === 1 && this.codec !== 'none'
    this.messages.push(
      this.message(relative ? offset - this.firstOffset : offset, this.appendTime ?? timestamp, 'none', key, value),
    )
  }

  build(): Buffer {
    const messages = Buffer.concat(this.messages)
    if (this.codec === 'none' || messages.length === 0) return messages
    const value = compress(this.codec, messages, undefined, this.options.magic === 0 ? 'kafka-0.8' : 'standard')
    return this.message(this.lastOffset, this.appendTime ?? this.maxTimestamp, this.codec, null, value)
  }

  private get appendTime(): number | bigint | null {
    return this.options.timestampType === 'LogAppendTime' ? (this.options.logAppendTime ?? -1) : null
  }

  private message(offset: number, time: number | bigint, codec: CodecName, key: Buffer | null, value: Buffer | null): Buffer {
    const { magic, timestampType } = this.options
    const bytes = Buffer.allocUnsafe(smallestMessage(magic) + (key?.length ?? 0) + (value?.length ?? 0))
    MESSAGE.offset.set(bytes, 0, offset)
    MESSAGE.messageSize.set(bytes, 0, bytes.length - LOG_OVERHEAD)
    MESSAGE.magic.set(bytes, 0, magic)
    const timeType = magic === 1 && timestampType === 'LogAppendTime' ? LOG_APPEND_TIME_FLAG : 0
    MESSAGE.attributes.set(bytes, 0, CODECS[codec].id | timeType)
    if (magic === 1) MESSAGE_V1.timestamp.set(bytes, 0, time)
    const keyEnd = writePart(bytes, headerSize(magic), key)
    writePart(bytes, keyEnd, value)
    MESSAGE.crc.set(bytes, 0, crc32(bytes, MESSAGE.magic.at))
    return bytes
  }
}

function writePart(bytes: Buffer, at: number, part: Buffer | null): number {
  bytes.writeInt32BE(part === null ? -1 : part.length, at)
  if (part === null) return at + 4
  part.copy(bytes, at + 4)
  return at + 4 + part.length
}
