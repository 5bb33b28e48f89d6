// Writes records 0 … count-1 through @mq/client and, in the end, the numbers of those that were acknowledged to a file (4 bytes each).
// Arguments: bootstrap topic count idempotent(true|false) file. Prints "acknowledged N" now and then, "failed N: why" for what is given up.
import { writeFileSync } from 'node:fs'
import { Kafka, logLevel } from '@mq/client'
import { keyFor, valueFor } from './pattern.mjs'

const [bootstrap, topic, count, idempotent, file] = process.argv.slice(2)
/** Messages of one send(), and sends at a time. */
const TOGETHER = 100
const UNDER_WAY = 64

const producer = new Kafka({
  clientId: 'crash',
  brokers: [bootstrap],
  logLevel: logLevel.NOTHING,
  retry: { retries: 300, initialRetryTime: 50, maxRetryTime: 500 },
}).producer({ idempotent: idempotent === 'true' })
await producer.connect()

const acknowledged = []
let failed = 0
let told = 0
const underWay = new Set()
for (let from = 0; from < Number(count); from += TOGETHER) {
  const indexes = Array.from({ length: Math.min(TOGETHER, count - from) }, (_, at) => from + at)
  const sending = producer
    .send({ topic, acks: -1, messages: indexes.map((index) => ({ key: keyFor(index), value: valueFor(index) })) })
    .then(
      () => {
        for (const index of indexes) acknowledged.push(index)
        if (acknowledged.length - told < 1000) return
        told = acknowledged.length
        console.log(`acknowledged ${told}`)
      },
      (error) => {
        if (++failed <= 5) console.log(`failed ${from}: ${error.message}`)
      },
    )
    .finally(() => underWay.delete(sending))
  underWay.add(sending)
  while (underWay.size >= UNDER_WAY) await Promise.race(underWay)
}
await Promise.all(underWay)
await producer.disconnect()

const bytes = Buffer.alloc(4 * acknowledged.length)
for (const [at, index] of acknowledged.entries()) bytes.writeInt32BE(index, 4 * at)
writeFileSync(file, bytes)
console.log(`done ${acknowledged.length} failed ${failed}`)
