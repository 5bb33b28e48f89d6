/** A client's connection: requests out, answers in, matched by correlation id; pipelined as the caller likes. */
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
import type { SimulatedStream } from './network.js'
import type { Process } from './process.js'

/** The answer will not come: the connection is gone, or it took too long. What was asked may have been done. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
}

interface Waiting {
  readonly api: ApiName
  readonly version: number
  readonly resolve: (body: never) => void
  readonly reject: (error: Error) => void
  readonly cancel: () => void
}

const MOST_FRAME_BYTES = 64 * 1024 * 1024

export class Link {
  readonly #frames = new FrameReader(MOST_FRAME_BYTES)
  readonly #waiting = new Map<number, Waiting>()
  #nextCorrelationId = 1
  #isLost = false

  constructor(
    readonly stream: SimulatedStream,
    readonly process: Process,
    readonly timeoutMs: number,
  ) {
    stream.on('data', (chunk) => this.#received(chunk))
    stream.on('error', (error) => this.close(error.message))
    stream.on('end', () => this.close('ended by the broker'))
    stream.on('close', () => this.close('closed by the broker'))
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Sends a request that has no answer. */
  tell<Name extends ApiName>(api: Name, version: number, body: Input<RequestOf<Name>>): void {
    if (!this.#isLost) this.#send(api, version, this.#nextCorrelationId++, body)
  }

  ask<Name extends ApiName>(api: Name, version: number, body: Input<RequestOf<Name>>): Promise<Body<ResponseOf<Name>>> {
    return new Promise((resolve, reject) => {
      if (this.#isLost) {
        reject(new LinkLost('the connection is gone'))
        return
      }
      const correlationId = this.#nextCorrelationId++
      const cancel = this.process.after(this.timeoutMs, 'request timeout', () => this.close(`${api} was not answered in time`))
      this.#waiting.set(correlationId, { api, version, resolve, reject, cancel })
      this.#send(api, version, correlationId, body)
    })
  }

  #send(api: ApiName, version: number, correlationId: number, body: unknown): void {
    const request = { api, version, correlationId, clientId: this.process.name, body } as Parameters<typeof encodeRequest>[0]
    this.stream.write(Buffer.concat(encodeRequest(request)))
  }

  #received(chunk: Buffer): void {
    for (const frame of this.#frames.push(chunk)) {
      const correlationId = frame.readInt32BE(0)
      const waiting = this.#waiting.get(correlationId)
      if (waiting === undefined) throw new Error(`an answer to request ${correlationId}, which nobody waits for`)
      if (waiting !== this.#waiting.values().next().value) throw new Error(`the answer to ${waiting.api} came before its turn`)
      this.#waiting.delete(correlationId)
      waiting.cancel()
      waiting.resolve(decodeResponse({ api: waiting.api, version: waiting.version, frame }).body as never)
    }
  }

  close(reason: string): void {
    if (this.#isLost) return
    this.#isLost = true
    this.stream.destroy()
    for (const { reject, cancel } of this.#waiting.values()) {
      cancel()
      reject(new LinkLost(reason))
    }
    this.#waiting.clear()
  }
}
