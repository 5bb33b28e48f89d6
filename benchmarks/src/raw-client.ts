/**
 * The least that a load needs: a socket, requests as finished bytes, so many in flight at once.
 * The frames are made once and sent again and again, so the generator hardly counts beside the broker.
 */

import { connect, type Socket } from 'node:net'
import { type ApiName, decodeResponse, encodeRequest, FrameReader } from '@mq/protocol'

type RequestBody<Api extends ApiName> = Parameters<typeof encodeRequest<Api>>[0]['body']

const LARGEST_ANSWER = 512 * 1024 * 1024

export class RawClient {
  readonly #socket: Socket
  readonly #frames = new FrameReader(LARGEST_ANSWER)
  readonly #waiting: ((frame: Buffer) => void)[] = []
  #failure: Error | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => {
      for (const frame of this.#frames.push(chunk)) this.#waiting.shift()!(frame)
    })
    socket.on('error', (error) => {
      this.#failure = error
    })
  }

  static async to(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1' })
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new RawClient(socket)
  }

  /** Sends finished bytes; resolves with the answer's frame. Answers come in the order of the requests. */
  exchange(request: Buffer): Promise<Buffer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#socket.write(request)
    })
  }

  async call<Api extends ApiName>(api: Api, version: number, body: RequestBody<Api>) {
    const frame = await this.exchange(requestBytes(api, version, body))
    return decodeResponse({ api, version, frame }).body
  }

  close(): void {
    this.#socket.destroy()
  }
}

export function requestBytes<Api extends ApiName>(api: Api, version: number, body: RequestBody<Api>): Buffer {
  return Buffer.concat(encodeRequest({ api, version, correlationId: 1, clientId: 'bench', body }))
}

/** Keeps `depth` exchanges in flight until `total` are done. */
export async function pipelined(
  client: RawClient,
  request: Buffer,
  { depth, total, check }: { depth: number; total: number; check: (frame: Buffer) => void },
): Promise<void> {
  let started = 0
  const lane = async (): Promise<void> => {
    while (started < total) {
      started++
      check(await client.exchange(request))
    }
  }
  await Promise.all(Array.from({ length: Math.min(depth, total) }, lane))
}
