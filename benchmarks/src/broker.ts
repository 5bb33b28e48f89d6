/** `npm run bench`: our broker against Apache Kafka 3.9.1 in one run, interleaved, the peer warmed. `--only produce,fetch` picks workloads, `--quick` shortens them. */

import { flagsOf } from './flags.js'
import { apache, mq, type Peer, type RunningBroker } from './peers.js'
import { type Row, report } from './report.js'
import { spreadOf } from './statistics.js'
import { fetchOnce, prepareFetch } from './workloads/fetch.js'
import { idleConsumersOnce } from './workloads/idle-consumers.js'
import { latencyOf } from './workloads/latency.js'
import { partitionsOnce } from './workloads/partitions.js'
import { prepareProduce, produceOnce } from './workloads/produce.js'
import { startOnce } from './workloads/start.js'

const { quick, only } = flagsOf({
  quick: { kind: 'switch' },
  only: { kind: 'choice', names: ['start', 'partitions', 'consumers', 'produce', 'fetch', 'latency'] },
})

const ROUNDS = quick ? 3 : 7
const WARM_UP_SECONDS = quick ? 10 : 120

const IDLE_CONSUMERS = 2_000

/** Less than our tail cache holds. */
const TAIL_MB = 40

const SIZES = [
  { name: '1 KiB', recordCount: 1, recordBytes: 950, totalMb: quick ? 10 : 30, target: 0.25 },
  { name: '16 KiB', recordCount: 16, recordBytes: 1010, totalMb: quick ? 60 : 200, target: 0.35 },
  { name: '1 MiB', recordCount: 1000, recordBytes: 1024, totalMb: quick ? 200 : 500, target: 0.7 },
]

async function warm(broker: RunningBroker): Promise<void> {
  const until = performance.now() + WARM_UP_SECONDS * 1000
  while (performance.now() < until)
    for (const size of SIZES) await produceOnce(broker, { topic: 'produce', ...size, totalMb: 10 })
}

async function dataPath(): Promise<Row[]> {
  const rows: Row[] = []
  const brokers = [await mq.start(), await apache.start()]
  try {
    for (const broker of brokers) {
      await prepareProduce(broker, 'produce')
      await prepareFetch(broker, 'fetch', 64)
      await warm(broker)
    }
    if (only.has('produce'))
      for (const size of SIZES) {
        const figures = await rounds(brokers, (broker) => produceOnce(broker, { topic: 'produce', ...size }))
        rows.push(
          row(`produce ${size.name}`, 'CPU ms/MB', figures, (each) => each.cpuMsPerMb, { atMost: size.target }),
          row(`produce ${size.name}`, 'MB/s', figures, (each) => each.mbPerSecond),
        )
      }
    if (only.has('fetch')) {
      for (const broker of brokers) await prepareFetch(broker, 'tail', TAIL_MB)
      rows.push(
        ...(await fetching(brokers, 'from the tail', 'tail', { '64 KiB': 0.6, '1 MiB': 1.0 })),
        // Written before everything else: of ours it is read from the files again.
        ...(await fetching(brokers, 'from further back', 'fetch', {})),
      )
    }
    if (only.has('latency')) {
      let turn = 0
      const figures = await rounds(
        brokers,
        (broker) => latencyOf(broker, { topic: `latency-${turn++}`, perSecond: 1_000, seconds: quick ? 5 : 15 }),
        3,
      )
      rows.push(
        row('1,000 msg/s acks=all', 'p50 ms', figures, (each) => each.p50Ms, { atMost: 0.65 }),
        row('1,000 msg/s acks=all', 'p99 ms', figures, (each) => each.p99Ms, { atMost: 0.6 }),
        row('1,000 msg/s acks=all', 'CPU ms/record', figures, (each) => each.cpuMsPerRecord, { atMost: 0.3 }),
      )
    }
  } finally {
    for (const broker of brokers) await broker.stop()
  }
  return rows
}

async function fetching(
  brokers: RunningBroker[],
  where: string,
  topic: string,
  targets: Readonly<Record<string, number>>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name, answerBytes } of [
    { name: '64 KiB', answerBytes: 65_536 },
    { name: '1 MiB', answerBytes: 1_048_576 },
  ]) {
    for (const broker of brokers) await fetchOnce(broker, { topic, answerBytes, rounds: quick ? 2 : 20 })
    const figures = await rounds(brokers, (broker) => fetchOnce(broker, { topic, answerBytes, rounds: quick ? 4 : 12 }))
    const target = targets[name]
    rows.push(
      row(
        `fetch ${name} ${where}`,
        'CPU ms/GB',
        figures,
        (each) => each.cpuMsPerGb,
        target === undefined ? undefined : { atMost: target },
      ),
      row(`fetch ${name} ${where}`, 'MB/s', figures, (each) => each.mbPerSecond),
    )
  }
  return rows
}

interface Pair<Figures> {
  readonly ours: Figures[]
  readonly peer: Figures[]
}

/** Ours and the peer in turn, so that whatever else the machine does hits both. */
async function rounds<Figures>(
  [ours, peer]: RunningBroker[],
  work: (broker: RunningBroker) => Promise<Figures>,
  count = ROUNDS,
): Promise<Pair<Figures>> {
  const pair: Pair<Figures> = { ours: [], peer: [] }
  for (let round = 0; round < count; round++) {
    pair.ours.push(await work(ours!))
    pair.peer.push(await work(peer!))
  }
  return pair
}

function row<Figures>(
  what: string,
  unit: string,
  { ours, peer }: Pair<Figures>,
  pick: (figures: Figures) => number,
  target?: Row['target'],
): Row {
  return {
    what,
    unit,
    ours: spreadOf(ours.map(pick)),
    peer: spreadOf(peer.map(pick)),
    peerName: apache.name,
    ...(target === undefined ? {} : { target }),
  }
}

async function several<Figures>(
  work: (peer: Peer) => Promise<Figures>,
  times: { ours: number; peer: number },
): Promise<Pair<Figures>> {
  const pair: Pair<Figures> = { ours: [], peer: [] }
  for (let round = 0; round < times.ours; round++) pair.ours.push(await work(mq))
  for (let round = 0; round < times.peer; round++) pair.peer.push(await work(apache))
  return pair
}

async function main(): Promise<void> {
  const rows: Row[] = []
  if (only.has('start')) {
    const figures = await several(startOnce, { ours: quick ? 3 : 10, peer: quick ? 1 : 3 })
    rows.push(
      row('process start to first acknowledged record', 'ms', figures, (each) => each.firstProduceMs),
      {
        what: 'the same, ours alone',
        unit: 'ms, best counts',
        ours: spreadOf(figures.ours.map((each) => each.firstProduceMs)),
        target: { atMost: 300, of: 'ours' },
      },
      row('idle memory', 'MB', figures, (each) => each.idleMb),
      {
        what: 'idle memory, ours alone',
        unit: 'MB',
        ours: spreadOf(figures.ours.map((each) => each.idleMb)),
        target: { atMost: 73.4, of: 'ours' },
      },
      row('idle CPU', '% of a core', figures, (each) => each.idleCpuPercent),
    )
  }
  if (only.has('partitions')) {
    const figures = await several((peer) => partitionsOnce(peer, 1_000), { ours: 3, peer: quick ? 1 : 3 })
    rows.push(
      row('1,000 partitions, one write each', 'CPU ms', figures, (each) => each.cpuMs, { atMost: 0.15 }),
      row('memory after it', 'MB', figures, (each) => each.residentMb, { atMost: 0.3 }),
    )
  }
  if (only.has('consumers')) {
    const figures = await several((peer) => idleConsumersOnce(peer, { count: IDLE_CONSUMERS, seconds: quick ? 10 : 30 }), {
      ours: quick ? 1 : 3,
      peer: quick ? 1 : 3,
    })
    rows.push(
      row('2,000 idle consumers', '% of a core', figures, (each) => each.cpuPercent, { atMost: 0.3 }),
      row('2,000 idle consumers', 'fetches/s', figures, (each) => each.fetchesPerSecond),
      row('memory with them', 'MB', figures, (each) => each.residentMb, { atMost: 0.3 }),
    )
  }
  if (only.has('produce') || only.has('fetch') || only.has('latency')) rows.push(...(await dataPath()))
  report('broker', rows, { keep: !quick })
}

main().catch((error: Error) => {
  console.error(error)
  process.exitCode = 1
})
