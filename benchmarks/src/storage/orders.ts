/** The other side of contestant.ts: reads orders line by line, carries them out one at a time, answers each with a line of JSON. */

import { createInterface } from 'node:readline'

export type Orders = Record<string, (...words: string[]) => Promise<unknown> | unknown>

export async function obey(orders: Orders): Promise<void> {
  console.log('{"ready":true}')
  for await (const line of createInterface({ input: process.stdin })) {
    const [order, ...words] = line.split(' ')
    const carryOut = orders[order!]
    if (carryOut === undefined) throw new Error(`no such order: ${line}`)
    console.log(JSON.stringify(await carryOut(...words)))
  }
}
