// What a broker owes to the bytes that a client wrote: one answer for each whole frame, in order, or a closed connection; nothing for acks=0.
import { APIS, apiByKey, decodeBody, readRequestHeader, responseHeaderVersion } from '@mq/protocol'

/** Requests that may wait by their own fields, and for how long at most, in ms. What waits for members of a group: groups.mjs. */
const WAITS = {
  Fetch: ({ maxWaitMs }) => maxWaitMs,
  Produce: ({ acks, timeoutMs }) => (acks === -1 ? timeoutMs : 0),
  CreateTopics: ({ timeoutMs }) => timeoutMs,
  DeleteTopics: ({ timeoutMs }) => timeoutMs,
  CreatePartitions: ({ timeoutMs }) => timeoutMs,
  DeleteRecords: ({ timeoutMs }) => timeoutMs,
}

/** The whole frames in what was written, as far as sizes can be followed, each `{ api, version, correlationId, owes, waitMs, body }`; and whether more was left. */
export function framesIn(bytes) {
  const frames = []
  let at = 0
  while (bytes.length - at >= 4) {
    const size = bytes.readInt32BE(at)
    if (size <= 0 || size > 104_857_600) return { frames: [...frames, MUST_CLOSE], isIncomplete: false }
    if (at + 4 + size > bytes.length) return { frames, isIncomplete: true }
    frames.push(owed(bytes.subarray(at + 4, at + 4 + size)))
    at += 4 + size
  }
  return { frames, isIncomplete: at < bytes.length }
}

const MUST_CLOSE = { api: 'no frame', version: 0, correlationId: 0, owes: 'a close', waitMs: 0 }

function owed(frame) {
  if (frame.length < 8) return MUST_CLOSE
  const api = apiByKey(frame.readInt16BE(0))
  const version = frame.readInt16BE(2)
  const correlationId = frame.readInt32BE(4)
  const asked = {
    api: api?.name ?? `key ${frame.readInt16BE(0)}`,
    version,
    correlationId,
    owes: 'an answer or a close',
    waitMs: 0,
  }
  const range = api?.versions.all
  if (range === undefined || version < range[0] || version > range[1]) return asked
  try {
    const body = decodeBody(api.request, version, frame.subarray(readRequestHeader(frame).bodyAt))
    const owes = api.name === 'Produce' && body.acks === 0 ? 'nothing or a close' : asked.owes
    return { ...asked, owes, body, waitMs: Math.max(0, WAITS[api.name]?.(body) ?? 0) }
  } catch {
    return asked
  }
}

/** Throws when a frame is no answer to what was asked. Returns its body. */
export function readAnswer(asked, frame) {
  if (frame.readInt32BE(0) !== asked.correlationId) throw new Error(`the answer is for request ${frame.readInt32BE(0)}`)
  // KIP-511: an ApiVersions version that the broker does not know is answered in version 0.
  const isUnknown = asked.api === 'ApiVersions' && (asked.version < 0 || asked.version > 4)
  const version = isUnknown ? 0 : asked.version
  const api = APIS[asked.api]
  let bodyAt = 4
  if (responseHeaderVersion(api, version) === 1) {
    if (frame[bodyAt++] !== 0) throw new Error('the header of the answer has tagged fields')
  }
  // Records may have any time: what comes back need not be a safe number.
  return decodeBody(api.response, version, frame.subarray(bodyAt), { int64: 'exact' })
}
