// Records what real clients send: every row of the interop table runs through a proxy in front of our broker, and a few frames of each
// client, API and version go to frames.jsonl.gz. Run by hand when a client or a version is added: node robustness/fuzz/record.mjs
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { FrameReader } from '@mq/protocol'
import { freePort } from '../../tools/apache.mjs'
import { ROOT } from '../../tools/toolchain/cache.mjs'
import { startBrokerProcess } from '../broker-process.mjs'

const OUT = fileURLToPath(new URL('frames.jsonl.gz', import.meta.url))
const ROWS = [
  'kcat',
  'kafkajs',
  'platformatic',
  'java-3.9.1',
  'java-4.4.0',
  'kafka-tools',
  'confluent-kafka',
  'kafka-python',
  'aiokafka',
  'franz-go',
  'sarama',
  'kafka-go',
]
/** Of one client, API and version, by their sizes: different sizes are different shapes. */
const KEPT_SHAPES = 3
const LARGEST = 6000

const data = mkdtempSync(join(tmpdir(), 'mq-record-'))
const port = await freePort()
const broker = await startBrokerProcess({
  data,
  advertised: port,
  config: { 'num.partitions': 3, 'offsets.topic.num.partitions': 4 },
})
let row = ''
const kept = new Map()
const proxy = createServer((client) => {
  const upstream = connect(broker.port, '127.0.0.1')
  const reader = new FrameReader(2 ** 28)
  client.on('data', (chunk) => {
    for (const frame of reader.push(chunk)) keep(frame)
    upstream.write(chunk)
  })
  upstream.on('data', (chunk) => client.write(chunk))
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ]) {
    one.on('error', () => {})
    one.on('close', () => other.destroy())
  }
})
await new Promise((done) => proxy.listen(port, '127.0.0.1', done))
for (row of process.argv.length > 2 ? process.argv.slice(2) : ROWS) {
  const child = spawn(process.execPath, [join(ROOT, 'interop', 'run.mjs'), '--at', `127.0.0.1:${port}`, row], {
    stdio: 'inherit',
  })
  await new Promise((done) => child.on('close', done))
}
proxy.close()
for (const error of broker.errors()) console.log(`the broker said: ${error.slice(0, 2000)}`)
if (broker.hasEnded) throw new Error(`the broker ended by itself: ${await broker.ended}`)
await broker.stop()
rmSync(data, { recursive: true })

const lines = [...kept.values()].flatMap((shapes) => [...shapes.values()])
lines.sort((a, b) => a.key - b.key || a.version - b.version || a.client.localeCompare(b.client))
writeFileSync(OUT, gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { level: 9 }))
console.log(`${lines.length} frames, ${new Set(lines.map(({ key, version }) => `${key} v${version}`)).size} APIs and versions`)

function keep(frame) {
  const key = frame.readInt16BE(0)
  const version = frame.readInt16BE(2)
  const client = row
  if (frame.length > LARGEST) return
  const of = `${client} ${key} ${version}`
  const shapes = kept.get(of) ?? kept.set(of, new Map()).get(of)
  const shape = Math.ceil(Math.log2(frame.length) * 4)
  if (shapes.size < KEPT_SHAPES || shapes.has(shape)) shapes.set(shape, { client, key, version, frame: frame.toString('base64') })
}
