// The same story told by Kafka's own perf tools: kafka-producer-perf-test writes through the kills, kafka-consumer-perf-test counts.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { runTool } from '../../tools/apache.mjs'
import { newFolder, startBrokerProcess } from '../broker-process.mjs'
import { RawConnection } from '../fuzz/raw-connection.mjs'
import { makeTopic } from './kill.mjs'

const TOPIC = 'perf'
const PARTITIONS = 3
const TOOL_MS = 600_000

/** Returns `{ sent, consumed, errors }`: acknowledged as the producer's tool says, read as the consumer's says, errors that the broker logged. */
export async function perfStory({ count, kills }) {
  const folder = newFolder('perf')
  const data = join(folder, 'data')
  let broker = await startBrokerProcess({ data })
  try {
    await makeTopic(broker.port, TOPIC, PARTITIONS)
    const props = [
      `bootstrap.servers=${broker.bootstrap}`,
      'acks=all',
      'delivery.timeout.ms=300000',
      'reconnect.backoff.max.ms=200',
      'linger.ms=5',
    ]
    // A bounded rate, so that the kills come in the middle however fast the machine is.
    const throughput = String(Math.max(5000, Math.floor(count / 10)))
    const producing = runTool(
      'org.apache.kafka.tools.ProducerPerformance',
      [
        '--topic',
        TOPIC,
        '--num-records',
        String(count),
        '--record-size',
        '1024',
        '--throughput',
        throughput,
        '--producer-props',
        ...props,
      ],
      { timeoutMs: TOOL_MS },
    )
    for (const part of kills) {
      await reached(broker.port, Math.floor(count * part))
      await broker.die()
      broker = await startBrokerProcess({ data, port: broker.port })
    }
    const produced = await producing
    const [sent] = [...produced.stdout.matchAll(/^(\d+) records sent, .* 99\.9th/gm)].map(([, number]) => Number(number))
    if (produced.code !== 0 || sent === undefined)
      throw new Error(
        `ProducerPerformance ended with ${produced.code}:\n${produced.stdout.slice(-1500)}${produced.stderr.slice(-1500)}`,
      )
    const consumer = await runTool(
      'org.apache.kafka.tools.ConsumerPerformance',
      [
        '--bootstrap-server',
        broker.bootstrap,
        '--topic',
        TOPIC,
        '--messages',
        String(count * 2),
        '--timeout',
        '4000',
        '--group',
        'perf',
      ],
      { timeoutMs: TOOL_MS },
    )
    // start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, …
    const consumed = Number(consumer.stdout.trim().split('\n').at(-1)?.split(',')[4])
    return { sent, consumed, errors: broker.errors() }
  } finally {
    await broker.die()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function reached(port, number) {
  for (const deadline = Date.now() + TOOL_MS; Date.now() < deadline; await pause(50)) {
    const connection = await RawConnection.open(port)
    const partitions = Array.from({ length: PARTITIONS }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1 }))
    const { topics } = await connection.ask('ListOffsets', 7, { replicaId: -1, topics: [{ name: TOPIC, partitions }] })
    connection.drop()
    if (topics[0].partitions.reduce((sum, { offset }) => sum + offset, 0) >= number) return
  }
  throw new Error(`${number} records were not reached`)
}
