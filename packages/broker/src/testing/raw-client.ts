/** A client for tests that sends whatever bytes it is told and reads frames back: what a real client library would never do. */
import { connect, type Socket } from 'node:net'
import {
  type ApiName,
  type Body,
  decodeResponse,
  encodeRequest,
  FrameReader,
  type Input,
  type RequestOf,
  type ResponseOf,
} from '@mq/protocol'

export class RawClient {
  readonly socket: Socket
  readonly #frames: Buffer[] = []
  readonly #reader = new FrameReader(256 * 1024 * 1024)
  #closed = false
  #wake: (() => void) | undefined
  #nextCorrelation = 1

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#frames.push(...this.#reader.push(chunk))
      this.#wake?.()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#closed = true
      this.#wake?.()
    })
  }

  static connect(port: number, host = '127.0.0.1'): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.removeListener('error', reject)
        resolve(new RawClient(socket))
      })
    })
  }

  write(bytes: Buffer): void {
    this.socket.write(bytes)
  }

  /** The next frame without its size, or null when the connection is closed. */
  async frame(): Promise<Buffer | null> {
    while (this.#frames.length === 0) {
      if (this.#closed) return null
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#frames.shift()!
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Resolves when the broker has closed the connection; frames may be left. */
  async closed(): Promise<void> {
    while (!this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Sends a request and decodes its answer. */
  async ask<Name extends ApiName>(api: Name, version: number, body: Input<RequestOf<Name>>): Promise<Body<ResponseOf<Name>>> {
    const correlationId = this.#nextCorrelation++
    for (const slice of encodeRequest({ api, version, correlationId, clientId: 'raw', body })) this.socket.write(slice)
    const frame = await this.frame()
    if (frame === null) throw new Error(`${api} v${version}: the connection was closed`)
    const answer = decodeResponse({ api, version, frame })
    if (answer.correlationId !== correlationId) throw new Error(`answer ${answer.correlationId} to request ${correlationId}`)
    return answer.body
  }

  end(): void {
    this.socket.destroy()
  }
}

/** A request frame with its size and a header of version 1, or 2 when `flexible`. */
export function requestFrame(request: {
  key: number
  version: number
  correlationId?: number
  flexible?: boolean
  body?: Buffer
}): Buffer {
  const head = Buffer.alloc(8)
  head.writeInt16BE(request.key, 0)
  head.writeInt16BE(request.version, 2)
  head.writeInt32BE(request.correlationId ?? 7, 4)
  const client = Buffer.from('\x00\x05probe', 'latin1')
  const payload = Buffer.concat([head, client, Buffer.alloc(request.flexible ? 1 : 0), request.body ?? Buffer.alloc(0)])
  const size = Buffer.alloc(4)
  size.writeInt32BE(payload.length)
  return Buffer.concat([size, payload])
}
