/** A frame's slices on their way into the socket. */

import type { Socket } from 'node:net'

/** Bytes up to which a frame's slices are copied together before they are written. */
const SMALL_FRAME = 16 * 1024

/**
 * A small frame goes out as one piece: a gathered write costs more than the copy.
 * `written`, if given, is called once the system has the last byte, or with the reason why it never will.
 */
export function writeFrame(socket: Socket, slices: readonly Buffer[], written?: (error?: Error | null) => void): void {
  let size = 0
  for (const slice of slices) size += slice.length
  if (size <= SMALL_FRAME) {
    socket.write(slices.length === 1 ? slices[0]! : Buffer.concat(slices, size), written)
    return
  }
  socket.cork()
  const last = slices.length - 1
  for (let at = 0; at < last; at++) socket.write(slices[at]!)
  socket.write(slices[last]!, written)
  socket.uncork()
}
