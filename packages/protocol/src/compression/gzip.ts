/** gzip by node:zlib, which is part of every Node: one way serves as native and portable. */
import { gunzipSync, gzipSync } from 'node:zlib'
import { damaged, overLimit } from './errors.js'

export function gzip(bytes: Buffer, level: number): Buffer {
  return gzipSync(bytes, { level })
}

export function gunzip(bytes: Buffer, maxOutputBytes: number): Buffer {
  let out: Buffer
  try {
    // Node takes no limit of 0.
    out = gunzipSync(bytes, { maxOutputLength: Math.max(maxOutputBytes, 1) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw overLimit('gzip', maxOutputBytes)
    throw damaged('gzip', (error as Error).message)
  }
  if (out.length > maxOutputBytes) throw overLimit('gzip', maxOutputBytes)
  return out
}
