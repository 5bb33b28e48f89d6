// A proxy that loses records: it passes everything on between clients and a broker, but takes every Nth record out of what is fetched.
// With it the interop table must turn red, or its checks are worth nothing.
import { connect, createServer } from 'node:net'
import {
  apiByKey,
  BatchBuilder,
  codecName,
  decodeResponse,
  encodeResponse,
  FrameReader,
  iterateBatches,
  readRequestHeader,
} from '@mq/protocol'

const FETCH = 1
const LIMIT_BYTES = 128 << 20

export function startLosingProxy({ port, upstream, everyNth }) {
  const sockets = new Set()
  let fetched = 0
  /** Counts records over all connections; the last of a batch stays, or a client would ask for it again for ever. */
  const isLost = (isLast) => {
    if (isLast) return false
    fetched += 1
    return fetched % everyNth === 0
  }

  const server = createServer((client) => {
    const broker = connect(upstream, '127.0.0.1')
    const asked = new Map()
    const requests = new FrameReader(LIMIT_BYTES)
    const responses = new FrameReader(LIMIT_BYTES)
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (chunk) => {
      for (const frame of requests.push(chunk)) {
        const { apiKey, apiVersion, correlationId } = readRequestHeader(frame)
        if (apiKey === FETCH) asked.set(correlationId, apiVersion)
      }
      broker.write(chunk)
    })
    broker.on('data', (chunk) => {
      for (const frame of responses.push(chunk)) {
        const correlationId = frame.readInt32BE(0)
        const version = asked.get(correlationId)
        asked.delete(correlationId)
        for (const slice of version === undefined ? whole(frame) : without(isLost, version, frame)) client.write(slice)
      }
    })
  })
  return new Promise((done, fail) => {
    server.on('error', fail)
    server.listen(port, '127.0.0.1', () =>
      done({
        close: () =>
          new Promise((closed) => {
            server.close(closed)
            for (const socket of sockets) socket.destroy()
          }),
      }),
    )
  })
}

function whole(frame) {
  const size = Buffer.alloc(4)
  size.writeInt32BE(frame.length)
  return [size, frame]
}

function without(isLost, version, frame) {
  const api = apiByKey(FETCH).name
  const { correlationId, body } = decodeResponse({ api, version, frame })
  for (const topic of body.responses) {
    for (const partition of topic.partitions) {
      if (partition.records !== null) partition.records = thinned(isLost, partition.records)
    }
  }
  return encodeResponse({ api, version, correlationId, body })
}

function thinned(isLost, bytes) {
  const kept = []
  let at = 0
  for (const batch of iterateBatches(bytes)) {
    kept.push(batch.isControl ? batch.slice() : rebuilt(isLost, batch))
    at += batch.sizeInBytes
  }
  kept.push(bytes.subarray(at))
  return Buffer.concat(kept)
}

function rebuilt(isLost, batch) {
  const builder = new BatchBuilder({
    codec: codecName(batch.codec),
    timestampType: batch.timestampType,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    transactional: batch.isTransactional,
    baseOffset: batch.baseOffset,
    leaderEpoch: batch.partitionLeaderEpoch,
  })
  for (const { offset, timestamp, key, value, headers } of batch.records()) {
    if (!isLost(offset === batch.lastOffset)) builder.tryAppend({ offset, timestamp, key, value, headers })
  }
  return builder.build()
}
