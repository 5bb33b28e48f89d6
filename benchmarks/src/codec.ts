/** `npm run bench:codec`: messages and record batches, ours against kafkajs, as units per second of CPU time. */

import { BatchBuilder, decodeResponse, encodeRequest, encodeResponse, RecordBatch } from '@mq/protocol'
import { flagsOf } from './flags.js'
import { type Row, report } from './report.js'
import { unitsPerCpuSecond } from './timed.js'

flagsOf({})

const KafkajsDecoder = require('kafkajs/src/protocol/decoder')
const kafkajsRecordBatch = {
  encode: require('kafkajs/src/protocol/recordBatch/v0').RecordBatch,
  decode: require('kafkajs/src/protocol/recordBatch/v0/decoder'),
  record: require('kafkajs/src/protocol/recordBatch/record/v0'),
}

const VALUE_BYTES = 1024
const RECORDS = 100

function metadataFrame(): Buffer {
  return Buffer.concat(
    encodeResponse({
      api: 'Metadata',
      version: 6,
      correlationId: 7,
      body: {
        brokers: [1, 2, 3].map((nodeId) => ({ nodeId, host: `broker-${nodeId}.example`, port: 9092, rack: null })),
        clusterId: 'cluster',
        controllerId: 1,
        topics: Array.from({ length: 20 }, (_, topic) => ({
          name: `topic-${topic}`,
          partitions: Array.from({ length: 12 }, (_, partitionIndex) => ({
            partitionIndex,
            leaderId: 1,
            replicaNodes: [1, 2, 3],
            isrNodes: [1, 2, 3],
          })),
        })),
      },
    }),
  ).subarray(4)
}

function batch(count: number, valueBytes: number): Buffer {
  const builder = new BatchBuilder({})
  for (let at = 0; at < count; at++)
    builder.tryAppend({ timestamp: 1_700_000_000_000 + at, key: Buffer.from(`key-${at}`), value: Buffer.alloc(valueBytes, 'x') })
  return builder.build()
}

function fetchFrame(): Buffer {
  return Buffer.concat(
    encodeResponse({
      api: 'Fetch',
      version: 11,
      correlationId: 7,
      body: {
        responses: [0, 1, 2].map((topic) => ({
          topic: `topic-${topic}`,
          partitions: [0, 1, 2, 3].map((partitionIndex) => ({
            partitionIndex,
            highWatermark: 1000,
            lastStableOffset: 1000,
            logStartOffset: 0,
            abortedTransactions: null,
            records: Buffer.alloc(0),
          })),
        })),
      },
    }),
  ).subarray(4)
}

async function main(): Promise<void> {
  const rows: Row[] = []
  const compare = async (
    what: string,
    unit: string,
    ours: (count: number) => void,
    theirs: (count: number) => void | Promise<void>,
    atLeast?: number,
  ): Promise<void> => {
    const figures = await unitsPerCpuSecond([
      { name: 'ours', run: ours },
      { name: 'kafkajs', run: theirs },
    ])
    rows.push({
      what,
      unit,
      ours: figures.get('ours')!,
      peer: figures.get('kafkajs')!,
      peerName: 'kafkajs',
      ...(atLeast === undefined ? {} : { target: { atLeast } }),
    })
  }
  const repeat = (work: () => unknown) => (count: number) => {
    for (let at = 0; at < count; at++) work()
  }

  const metadata = metadataFrame()
  const metadataOfKafkajs = require('kafkajs/src/protocol/requests/metadata/v6/response')
  await compare(
    'Metadata v6 decode (20 topics × 12 partitions)',
    'messages/s',
    repeat(() => decodeResponse({ api: 'Metadata', version: 6, frame: metadata })),
    async (count) => {
      for (let at = 0; at < count; at++) await metadataOfKafkajs.decode(metadata.subarray(4))
    },
    5,
  )
  const fetch = fetchFrame()
  const fetchOfKafkajs = require('kafkajs/src/protocol/requests/fetch/v11/response')
  await compare(
    'Fetch v11 decode (3 topics × 4 partitions, no records)',
    'messages/s',
    repeat(() => decodeResponse({ api: 'Fetch', version: 11, frame: fetch })),
    async (count) => {
      for (let at = 0; at < count; at++) await fetchOfKafkajs.decode(fetch.subarray(4))
    },
    5,
  )
  const fetchRequest = require('kafkajs/src/protocol/requests/fetch/v11/request')
  const kafkajsRequest = require('kafkajs/src/protocol/request')
  const wanted = [0, 1, 2].map((topic) => ({
    topic: `topic-${topic}`,
    partitions: [0, 1, 2, 3].map((partition) => ({
      partition,
      fetchOffset: '1000',
      maxBytes: 1_048_576,
      currentLeaderEpoch: -1,
    })),
  }))
  const body = {
    replicaId: -1,
    maxWaitMs: 500,
    minBytes: 1,
    maxBytes: 1e7,
    topics: wanted.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition }) => ({ partition, fetchOffset: 1000, partitionMaxBytes: 1_048_576 })),
    })),
  }
  await compare(
    'Fetch v11 encode (3 topics × 4 partitions)',
    'messages/s',
    repeat(() => encodeRequest({ api: 'Fetch', version: 11, correlationId: 7, clientId: 'bench', body })),
    async (count) => {
      for (let at = 0; at < count; at++)
        await kafkajsRequest({
          correlationId: 7,
          clientId: 'bench',
          request: fetchRequest({ maxWaitTime: 500, minBytes: 1, maxBytes: 1e7, isolationLevel: 0, topics: wanted, rackId: '' }),
        })
    },
    5,
  )
  const records = batch(RECORDS, VALUE_BYTES)
  await compare(
    `records decode (${RECORDS} of 1 KiB, values read)`,
    'batches/s',
    repeat(() => {
      for (const record of new RecordBatch(records).records()) if (record.value!.length === 0) throw new Error('empty')
    }),
    async (count) => {
      for (let at = 0; at < count; at++) {
        const decoder = new KafkajsDecoder(records)
        await kafkajsRecordBatch.decode(decoder)
      }
    },
  )
  const value = Buffer.alloc(VALUE_BYTES, 'x')
  await compare(
    `records encode (${RECORDS} of 1 KiB)`,
    'batches/s',
    repeat(() => {
      const builder = new BatchBuilder({})
      for (let at = 0; at < RECORDS; at++) builder.tryAppend({ timestamp: 1_700_000_000_000 + at, key: 'key', value })
      builder.build()
    }),
    async (count) => {
      for (let at = 0; at < count; at++)
        await kafkajsRecordBatch.encode({
          records: Array.from({ length: RECORDS }, (_, each) =>
            kafkajsRecordBatch.record({ offsetDelta: each, timestampDelta: each, key: 'key', value, headers: {} }),
          ),
          compression: 0,
          firstTimestamp: 1_700_000_000_000,
          maxTimestamp: 1_700_000_000_000 + RECORDS,
          producerId: -1,
          producerEpoch: -1,
          firstSequence: 0,
          lastOffsetDelta: RECORDS - 1,
        })
    },
  )
  report('codec', rows)
}

main().catch((error: Error) => {
  console.error(error)
  process.exitCode = 1
})
