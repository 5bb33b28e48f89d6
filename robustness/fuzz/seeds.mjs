// The frames that mutations start from: recorded from real clients, and written by our own encoder for every API and version that is
// served, from bodies that clients sent in whatever version they spoke.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import {
  apiByKey,
  BatchBuilder,
  crc32,
  decodeBody,
  EncodeError,
  encodeRequest,
  MessageSetBuilder,
  readRequestHeader,
} from '@mq/protocol'
import { lengthBytes, mapOf } from './wire-map.mjs'

const RECORDED = new URL('frames.jsonl.gz', import.meta.url)

/** Each: `{ origin, frame }`, the frame without its size. */
export function recordedFrames() {
  return gunzipSync(readFileSync(RECORDED))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { client, frame } = JSON.parse(line)
      return { origin: client, frame: Buffer.from(frame, 'base64') }
    })
}

/** One frame at least of every API and version in `offered` (as ApiVersions tells them: `{ apiKey, minVersion, maxVersion }`). */
export function encodedFrames(recorded, offered, topics) {
  const frames = []
  for (const { apiKey, minVersion, maxVersion } of offered) {
    const api = apiByKey(apiKey)
    const bodies = [...bodiesOf(recorded, api), ...(OWN[api.name]?.(topics) ?? [])]
    for (let version = minVersion; version <= maxVersion; version++) {
      const made = bodies
        .map((body) => encoded(api.name, version, forVersion(api.name, version, body)))
        .filter((frame) => frame !== null)
      // Bodies are many and alike; their sizes tell them apart well enough.
      const distinct = new Map(made.map((frame) => [frame.length, frame]))
      if (distinct.size === 0) distinct.set(0, encoded(api.name, version, {}))
      for (const frame of [...distinct.values()].slice(0, 6)) frames.push({ origin: 'encoder', frame })
    }
  }
  return frames
}

function bodiesOf(recorded, api) {
  const bodies = []
  for (const { frame } of recorded) {
    if (frame.readInt16BE(0) !== api.key) continue
    const { bodyAt, apiVersion } = readRequestHeader(frame)
    const [lowest, highest] = api.versions.all
    if (apiVersion >= lowest && apiVersion <= highest) bodies.push(decodeBody(api.request, apiVersion, frame.subarray(bodyAt)))
  }
  return bodies
}

/** Null where the version cannot say what the body says. */
function encoded(api, version, body) {
  try {
    return Buffer.concat(encodeRequest({ api, version, correlationId: 1, clientId: 'fuzz', body })).subarray(4)
  } catch (error) {
    if (error instanceof EncodeError || error instanceof TypeError) return null
    throw error
  }
}

/** What a body of another version has to give up. */
function forVersion(api, version, body) {
  if (api === 'Fetch' && version <= 12) {
    return { ...body, topics: body.topics.map((topic) => ({ ...topic, topic: topic.topic ?? '', topicId: undefined })) }
  }
  return body
}

const batch = (options = {}) => {
  const builder = new BatchBuilder(options)
  for (let at = 0; at < 3; at++) {
    builder.tryAppend({
      timestamp: 1_700_000_000_000 + at,
      key: `key ${at}`,
      value: `value ${at}`,
      headers: [{ key: 'h', value: Buffer.from('v') }],
    })
  }
  return builder.build()
}

const messageSet = (magic, codec) => {
  const builder = new MessageSetBuilder(codec === undefined ? { magic } : { magic, codec })
  for (let at = 0; at < 3; at++)
    builder.append({ offset: at, timestamp: magic === 0 ? -1 : 1_700_000_000_000, key: null, value: Buffer.from(`old ${at}`) })
  return builder.build()
}

/** Bodies of requests that the recorded clients do not send, or not in every form. */
const OWN = {
  Produce: (topics) =>
    [
      batch(),
      batch({ codec: 'gzip' }),
      batch({ codec: 'snappy' }),
      batch({ codec: 'lz4' }),
      batch({ codec: 'zstd' }),
      batch({ producerId: 1000, producerEpoch: 0, baseSequence: 0 }),
      messageSet(1),
      messageSet(1, 'gzip'),
      messageSet(0),
      messageSet(0, 'snappy'),
    ].map((records) => ({ acks: -1, timeoutMs: 1000, topicData: [{ name: topics[0], partitionData: [{ index: 0, records }] }] })),
  OffsetForLeaderEpoch: (topics) => [
    { replicaId: -1, topics: [{ topic: topics[0], partitions: [{ partition: 0, leaderEpoch: 0 }] }] },
  ],
  DescribeProducers: (topics) => [{ topics: [{ name: topics[0], partitionIndexes: [0, 1] }] }],
  OffsetDelete: (topics) => [{ groupId: 'fuzz', topics: [{ name: topics[0], partitions: [{ partitionIndex: 0 }] }] }],
  AlterConfigs: (topics) => [
    { resources: [{ resourceType: 2, resourceName: topics[0], configs: [{ name: 'retention.ms', value: '1000000' }] }] },
  ],
  IncrementalAlterConfigs: (topics) => [
    {
      resources: [
        { resourceType: 2, resourceName: topics[0], configs: [{ name: 'retention.ms', configOperation: 0, value: '1000000' }] },
      ],
    },
  ],
  DescribeLogDirs: (topics) => [{ topics: null }, { topics: [{ topic: topics[0], partitions: [0] }] }],
  DescribeCluster: () => [{}],
  DeleteGroups: () => [{ groupsNames: ['fuzz'] }],
  DescribeGroups: () => [{ groups: ['fuzz'] }],
  ListGroups: () => [{}],
}

/** Requests of the data plane: their topics are put to those that the fuzz keeps, so that frames reach logs and not only a lookup. */
const OF_LOGS = new Set([
  'JoinGroup',
  'Produce',
  'Fetch',
  'ListOffsets',
  'DeleteRecords',
  'OffsetForLeaderEpoch',
  'OffsetCommit',
  'OffsetFetch',
  'DescribeProducers',
])

/** Clients that wait for half a second again and again, and members that are waited for, would make the fuzz a test of patience. */
const SHORTENED = { 'Fetch.maxWaitMs': 5, 'JoinGroup.sessionTimeoutMs': 1500, 'JoinGroup.rebalanceTimeoutMs': 1000 }

/** The frame with its topics replaced: names by `topics[n]`, ids by `ids[n]`, the same one for the same. */
export function aimed(frame, topics, ids) {
  const map = mapOf(frame)
  if (map === null || !OF_LOGS.has(map.api)) return frame
  const pieces = []
  let at = 0
  for (const field of map.fields) {
    if (field.path in SHORTENED) {
      const wait = Buffer.alloc(4)
      wait.writeInt32BE(Math.min(frame.readInt32BE(field.at), SHORTENED[field.path]))
      pieces.push(frame.subarray(at, field.at), wait)
      at = field.end
      continue
    }
    const isName = field.kind === 'string' && /[.]topic/i.test(field.path) && /(name|topic|\[\])$/i.test(field.path)
    if (!isName && !(field.kind === 'uuid' && /topic/i.test(field.path))) continue
    const given = frame.subarray(field.kind === 'uuid' ? field.at : field.contentAt, field.end)
    if (given.length === 0 || given.every((byte) => byte === 0)) continue
    const pick = crc32(given) % topics.length
    const bytes = isName ? Buffer.from(topics[pick]) : Buffer.from(ids[pick], 'base64url')
    pieces.push(frame.subarray(at, field.at), ...(isName ? [lengthBytes(field.form, bytes.length)] : []), bytes)
    at = field.end
  }
  return Buffer.concat([...pieces, frame.subarray(at)])
}
