/** A frame's slices on their way into the socket. */

import type { Socket } from 'node:net'

/** Bytes up to which a frame's slices are copied together before they are written. */
const SMALL_FRAME = 16 * 1024

/** A small frame goes out as one piece: a gathered write costs more than the copy. */
export function writeFrame(socket: Socket, slices: readonly Buffer[]): void {
  let size = 0
  for (const slice of slices) size += slice.length
  if (size <= SMALL_FRAME) {
    socket.write(slices.length === 1 ? slices[0]! : Buffer.concat(slices, size))
    return
  }
  socket.cork()
  for (const slice of slices) socket.write(slice)
  socket.uncork()
}
