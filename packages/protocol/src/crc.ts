/**
 * CRC-32C for record batches (magic 2), CRC-32 for the old message sets. JavaScript by crc-32;
 * @node-rs/crc32 where it is installed, from the size at which crossing into native code pays.
 */
import { buf as crc32Js } from 'crc-32'
import { optional } from './compression/optional.js'

/** Below it the JavaScript is quicker than the call into native code (measured on Node 20). */
const NATIVE_FROM_BYTES = 256

interface NativeCrc {
  crc32(bytes: Buffer, initial?: number): number
  crc32c(bytes: Buffer, initial?: number): number
}

// The package has no types for this entry.
const { buf: crc32cJs } = require('crc-32/crc32c') as { buf(bytes: Uint8Array, seed: number): number }

const native = optional<NativeCrc>('@node-rs/crc32')

export const portableCrc = {
  crc32c: (bytes: Buffer, seed = 0): number => crc32cJs(bytes, seed | 0) >>> 0,
  crc32: (bytes: Buffer, seed = 0): number => crc32Js(bytes, seed | 0) >>> 0,
}

/** The native implementation, or undefined where it is not installed. */
export const nativeCrc = native && {
  crc32c: (bytes: Buffer, seed = 0): number => native.crc32c(bytes, seed),
  crc32: (bytes: Buffer, seed = 0): number => native.crc32(bytes, seed),
}

/** CRC-32C (Castagnoli) of bytes[from, to), unsigned. `seed` is the CRC of what came before. */
export function crc32c(bytes: Buffer, from = 0, to = bytes.length, seed = 0): number {
  const part = from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to)
  return (nativeCrc !== undefined && part.length >= NATIVE_FROM_BYTES ? nativeCrc : portableCrc).crc32c(part, seed)
}

/** CRC-32 (the one of zlib) of bytes[from, to), unsigned. */
export function crc32(bytes: Buffer, from = 0, to = bytes.length, seed = 0): number {
  const part = from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to)
  return (nativeCrc !== undefined && part.length >= NATIVE_FROM_BYTES ? nativeCrc : portableCrc).crc32(part, seed)
}
