/**
 * Test-only: a broker that answers as the test says, over a real socket on port 0. It speaks the protocol but keeps nothing:
 * what the client must survive (silence, wrong order, moved coordinators, closed sockets) is easier to script than to provoke.
 */

import net from 'node:net'
import {
  APIS,
  type ApiName,
  apiByKey,
  type Body,
  decodeBody,
  encodeResponse,
  FrameReader,
  type Input,
  readRequestHeader,
} from '@mq/protocol'

export type Answers = {
  [Api in ApiName]?: (
    request: Body<(typeof APIS)[Api]['request']>,
    call: { version: number; correlationId: number; clientId: string | null; socket: net.Socket },
  ) =>
    | Input<(typeof APIS)[Api]['response']>
    | 'silence'
    | 'close'
    | Promise<Input<(typeof APIS)[Api]['response']> | 'silence' | 'close'>
}

export class FakeBroker {
  readonly nodeId: number
  answers: Answers
  readonly requests: { api: ApiName; version: number; correlationId: number; body: unknown }[] = []
  readonly #server = net.createServer((socket) => this.#serve(socket))
  readonly #sockets = new Set<net.Socket>()

  constructor({ nodeId = 1, answers = {} }: { nodeId?: number; answers?: Answers } = {}) {
    this.nodeId = nodeId
    this.answers = answers
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port
  }

  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  count(api: ApiName): number {
    return this.requests.filter((request) => request.api === api).length
  }

  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.dropConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: net.Socket): void {
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    const frames = new FrameReader(64 * 1024 * 1024)
    socket.on('data', (chunk) => {
      for (const frame of frames.push(chunk)) void this.#answer(socket, frame)
    })
  }

  async #answer(socket: net.Socket, frame: Buffer): Promise<void> {
    const header = readRequestHeader(frame)
    const { name, request } = apiByKey(header.apiKey)!
    const api = name as ApiName
    const version = header.apiVersion
    const body = decodeBody(request, version, frame.subarray(header.bodyAt))
    this.requests.push({ api, version, correlationId: header.correlationId, body })
    const answer = this.answers[api] as ((body: unknown, call: unknown) => unknown) | undefined
    const call = { version, correlationId: header.correlationId, clientId: header.clientId, socket }
    const response = await (answer === undefined ? this.#standard(api) : answer(body, call))
    if (response === 'silence' || socket.destroyed) return
    if (response === 'close') {
      socket.destroy()
      return
    }
    for (const slice of encodeResponse({ api, version, correlationId: header.correlationId, body: response } as Parameters<
      typeof encodeResponse
    >[0]))
      socket.write(slice)
  }

  /** What every test needs: versions, itself as the only broker, and itself as every group's coordinator. */
  #standard(api: ApiName): unknown {
    const self = { nodeId: this.nodeId, host: '127.0.0.1', port: this.port }
    if (api === 'ApiVersions')
      return {
        apiKeys: Object.values(APIS).map(({ key, versions }) => ({
          apiKey: key,
          minVersion: versions.all[0],
          maxVersion: versions.all[1],
        })),
      }
    if (api === 'Metadata') return { brokers: [self], controllerId: this.nodeId, clusterId: 'fake', topics: [] }
    if (api === 'FindCoordinator') return self
    return 'silence'
  }
}

/** Metadata of one topic, all partitions led by one broker. */
export function topicMetadata(name: string, partitions: number, leaderId: number) {
  return {
    name,
    errorCode: 0,
    partitions: Array.from({ length: partitions }, (_, partitionIndex) => ({
      partitionIndex,
      leaderId,
      replicaNodes: [leaderId],
      isrNodes: [leaderId],
      errorCode: 0,
    })),
  }
}
