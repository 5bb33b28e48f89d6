/**
 * How bytes come from a socket. Today: 'data' events, each chunk a Buffer of its own. A pooled slab receive (`onread`) can take this
 * file's place: whoever listens only sees chunks that stay valid as long as it holds them.
 */
import type { Socket } from 'node:net'

export interface Receiver {
  /** Stops delivery; at most one more chunk arrives. The kernel's window then holds the client back. */
  pause(): void
  resume(): void
}

export function receive(socket: Socket, onChunk: (chunk: Buffer) => void): Receiver {
  socket.on('data', onChunk)
  return {
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
  }
}
