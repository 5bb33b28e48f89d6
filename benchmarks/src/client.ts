/**
 * `npm run bench:client`: our client against kafkajs and @platformatic/kafka on our broker (a process of its own), in one run, interleaved:
 * CPU seconds of the client's process per million records. `--only produce,single,consume` picks workloads, `--size 100` one record size.
 */

import { type Client, clients, STORED } from './clients.js'
import { flagsOf } from './flags.js'
import { mq } from './peers.js'
import { type Row, report } from './report.js'
import type { Spread } from './statistics.js'
import { unitsPerCpuSecond } from './timed.js'

const { only, size: onlySize } = flagsOf({
  only: { kind: 'choice', names: ['produce', 'single', 'consume'] },
  size: { kind: 'number' },
})
const SIZES = onlySize === undefined ? [100, 1024] : [onlySize]

/** Records of one send() of the batch workload. */
const RECORDS_A_SEND = 1_000
const MILLION = 1_000_000

/** How much less CPU than each peer the design asks for (DESIGN 7). */
const TARGETS = {
  produce: { kafkajs: 8, platformatic: 2.5 },
  consume: { kafkajs: 4, platformatic: 10 },
} as Record<string, Record<string, number>>

async function main(): Promise<void> {
  const broker = await mq.start()
  const rows: Row[] = []
  try {
    const bootstrap = `127.0.0.1:${broker.port}`
    for (const size of SIZES) {
      const all = await clients(bootstrap, size)
      await all[0]!.createTopics([`produce-${size}`, `consume-${size}`])
      const measure = async (what: string, work: (client: Client) => (count: number) => Promise<void>): Promise<void> => {
        const speeds = await unitsPerCpuSecond(all.map((client) => ({ name: client.name, run: work(client) })))
        const [ours, ...peers] = all
        for (const peer of peers)
          rows.push({
            what: `${what}, ${size} B`,
            unit: 'CPU s/million records',
            ours: secondsPerMillion(speeds.get(ours!.name)!),
            peer: secondsPerMillion(speeds.get(peer.name)!),
            peerName: peer.name,
            ...targetOf(what, peer.name),
          })
      }
      if (only.has('produce'))
        await measure('produce', (client) => async (count) => {
          for (let sent = 0; sent < count; sent += RECORDS_A_SEND)
            await client.produce(`produce-${size}`, Math.min(RECORDS_A_SEND, count - sent))
        })
      if (only.has('single'))
        await measure('awaited single sends', (client) => async (count) => {
          for (let sent = 0; sent < count; sent++) await client.produce(`produce-${size}`, 1)
        })
      if (only.has('consume')) {
        const stored = STORED[size]!
        for (let sent = 0; sent < stored; sent += RECORDS_A_SEND) await all[0]!.produce(`consume-${size}`, RECORDS_A_SEND)
        for (const client of all) await client.startConsuming(`consume-${size}`, stored)
        await measure('consume', (client) => (count) => client.consume(count))
      }
      for (const client of all) await client.close()
    }
    report('client', rows)
  } finally {
    await broker.stop()
  }
}

function secondsPerMillion({ min, median, max }: Spread): Spread {
  return { min: MILLION / max, median: MILLION / median, max: MILLION / min }
}

function targetOf(what: string, peer: string): Pick<Row, 'target'> {
  const times = Object.entries(TARGETS[what] ?? {}).find(([name]) => peer.includes(name))?.[1]
  return times === undefined ? {} : { target: { atMost: 1 / times } }
}

main().catch((error: Error) => {
  console.error(error)
  process.exitCode = 1
})
