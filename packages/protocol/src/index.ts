// The public face of @mq/protocol, one section per room.

// --- messages, and the tables of APIs and errors
export * from './apis.js'
// --- configs
export * from './config.js'
export * from './errors.js'
export * from './messages/index.js'
// --- record batches, compression, checksums, small functions
export * from './records/index.js'
// --- schema: the language of messages, and codecs
export { type Codec, codecOf, decodeBody, decodeVersioned, encodeBody, encodeVersioned } from './schema/codec.js'
export { describeSchema, toJson } from './schema/describe.js'
export type { ArrayField, Field as SchemaField, Fields, PrimitiveField, StructField } from './schema/fields.js'
export type { Body, Input, Message, UnknownTaggedField } from './schema/message.js'
export type { Versions } from './schema/versions.js'
// --- wire: primitives, frames, headers, failures
export { viewOf } from './wire/buffer-slices.js'
export * from './wire/failures.js'
export { FrameReader, FrameSizeError, FrameTooLarge } from './wire/frame.js'
export {
  decodeResponse,
  encodeRequest,
  encodeResponse,
  Framing,
  type ReadRequestHeader,
  type RequestFrame,
  type ResponseFrame,
  readRequestHeader,
  requestHeaderVersion,
  responseHeaderVersion,
} from './wire/header.js'
export { type Int64Reading, MAX_STRING_BYTES } from './wire/primitives.js'
export { Reader } from './wire/reader.js'
export { hold, release, releaseAll, Slab, SlabPool, type SlabPoolOptions } from './wire/slab.js'
export { SlabFrames, type SlabFramesOptions } from './wire/slab-frames.js'
export { Writer } from './wire/writer.js'
