/** CPU time of this process per unit of work, repeated and interleaved between contestants. */

import { type Spread, spreadOf } from './statistics.js'

export interface Contestant {
  readonly name: string
  /** Does the work `count` times; may be asynchronous. */
  run(count: number): void | Promise<void>
}

const WARM_UP_MS = 500
const ROUND_MS = 300
const ROUNDS = 9

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Units per second of CPU time, by contestant. */
export async function unitsPerCpuSecond(contestants: readonly Contestant[]): Promise<Map<string, Spread>> {
  const counts = new Map<string, number>()
  for (const { name, run } of contestants) {
    let count = 1
    const until = cpuMs() + WARM_UP_MS
    let perRound = 1
    while (cpuMs() < until) {
      const began = cpuMs()
      await run(count)
      const took = Math.max(0.05, cpuMs() - began)
      perRound = Math.max(1, Math.round((count * ROUND_MS) / took))
      count = Math.min(perRound, count * 4)
    }
    counts.set(name, perRound)
  }
  const figures = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < ROUNDS; round++)
    for (const { name, run } of contestants) {
      const count = counts.get(name)!
      const began = cpuMs()
      await run(count)
      figures.get(name)!.push((count * 1000) / (cpuMs() - began))
    }
  return new Map([...figures].map(([name, each]) => [name, spreadOf(each)]))
}
