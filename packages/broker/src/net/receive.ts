/**
 * How frames come from a socket: read by libuv straight into slabs of a pool (`onread`), which costs a third of 'data' events and spares
 * large frames a copy. Node offers that for outgoing sockets only; for an accepted one its handle is taken over, which is private API.
 * It lives in this file alone, is looked at on the first connection, and where it is not as expected 'data' events do the work.
 */
import { type Server, Socket } from 'node:net'
import { FrameReader, SlabFrames, type SlabFramesOptions } from '@mq/protocol'
import type { NetworkStream } from '../ports.js'

export interface Receiver {
  /** Stops delivery; at most one more read arrives. The kernel's window then holds the client back. */
  pause(): void
  resume(): void
}

export interface FrameSink {
  /** Complete frames, perhaps none yet. The taker releases each once nobody needs it any more. */
  received(frames: readonly Buffer[]): void
  /** The stream cannot be followed any further. */
  broken(error: Error): void
}

/** What an accepted socket must have inside for its handle to be taken over. */
interface Insides {
  _handle: { readStop(): void; useUserBuffer(buffer: Uint8Array): void } | null
  server?: Server | null
  _server?: Server | null
}

/** What receive() fills in once a connection begins to read. */
interface SlabPort {
  frames: SlabFrames
  sink: FrameSink | undefined
}

const ports = new WeakMap<NetworkStream, SlabPort>()

/** Whether Node's sockets look inside as this file expects; a test holds it for every version that we run on. */
export function canTakeHandle(socket: Socket): boolean {
  const { _handle } = socket as unknown as Insides
  return typeof _handle?.readStop === 'function' && typeof _handle.useUserBuffer === 'function'
}

/** A paused socket that reads into slabs, in place of one that a server (with `pauseOnConnect`) accepted; or that one itself. */
export function intoSlabs(accepted: Socket, slabs: SlabFramesOptions): Socket {
  if (!canTakeHandle(accepted)) return accepted
  const old = accepted as unknown as Insides
  const port: SlabPort = { frames: new SlabFrames(slabs), sink: undefined }
  const handle = old._handle
  old._handle = null
  const options = {
    handle,
    pauseOnCreate: true,
    onread: {
      buffer: () => port.frames.room(),
      callback: (count: number) => {
        deliver(port, count)
        return true
      },
    },
  }
  const socket = new Socket(options as unknown as ConstructorParameters<typeof Socket>[0])
  // The server counts its connections through its sockets.
  const mine = socket as unknown as Insides
  mine.server = old.server ?? null
  mine._server = old._server ?? null
  old._server = null
  ports.set(socket, port)
  // Not before: until its handle is closed the system may still read into the slab.
  socket.once('close', () => port.frames.close())
  return socket
}

function deliver(port: SlabPort, count: number): void {
  let frames: Buffer[]
  try {
    frames = port.frames.received(count)
  } catch (error) {
    port.sink?.broken(error as Error)
    return
  }
  port.sink?.received(frames)
}

/** Begins to read frames of up to `limitBytes`. */
export function receive(socket: NetworkStream, limitBytes: number, sink: FrameSink): Receiver {
  const port = ports.get(socket)
  if (port !== undefined) port.sink = sink
  else {
    const frames = new FrameReader(limitBytes)
    socket.on('data', (chunk) => {
      try {
        sink.received(frames.push(chunk))
      } catch (error) {
        sink.broken(error as Error)
      }
    })
  }
  socket.resume()
  return {
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
  }
}
