// Plays the script of the data plane against a broker and writes down its answers: `node tools/record-data-plane.mjs HOST PORT FILE`.
// The file in the tree was made by Apache Kafka 3.9.1 (fresh, see apache.mjs); make it anew when the script changes.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { decodeResponse, encodeRequest } from '@mq/protocol'

const require = createRequire(import.meta.url)
const { play, TOPICS } = require('../packages/broker/dist/handlers/testing/data-plane-script.js')
const { Aliases, normalize } = require('../packages/broker/dist/handlers/testing/normalize.js')

const [host = '127.0.0.1', port = '9092', file = 'answers.json'] = process.argv.slice(2)

/** One connection, one request at a time. */
class Wire {
  #socket
  #correlationId = 0
  async ask(api, version, body) {
    this.#socket ??= connect(Number(port), host)
    const socket = this.#socket
    const correlationId = ++this.#correlationId
    const wantsNothing = api === 'Produce' && body.acks === 0
    const frames = encodeRequest({ api, version, correlationId, clientId: 'script', body })
    if (wantsNothing) {
      // What is answered next, if anything, is a question that always has an answer.
      frames.push(...encodeRequest({ api: 'ApiVersions', version: 0, correlationId, clientId: 'script', body: {} }))
    }
    const frame = await new Promise((resolve, reject) => {
      let bytes = Buffer.alloc(0)
      const timer = setTimeout(() => reject(new Error(`no answer to ${api} v${version}`)), 10_000)
      const done = (result) => {
        clearTimeout(timer)
        socket.removeAllListeners()
        resolve(result)
      }
      socket.on('error', () => {})
      socket.on('close', () => done('closed'))
      socket.on('data', (chunk) => {
        bytes = Buffer.concat([bytes, chunk])
        if (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) done(bytes.subarray(4))
      })
      socket.write(Buffer.concat(frames))
    })
    if (frame === 'closed') this.#socket = undefined
    if (frame === 'closed') return 'closed'
    if (wantsNothing) return 'nothing'
    return decodeResponse({ api, version, frame }).body
  }
  end() {
    this.#socket?.destroy()
  }
}

const wire = new Wire()
await wire.ask('CreateTopics', 7, {
  timeoutMs: 10_000,
  topics: TOPICS.map(({ name, partitions, configs }) => ({
    name,
    numPartitions: partitions,
    replicationFactor: 1,
    configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
  })),
})
const topicIds = new Map()
for (let tries = 0; ; tries++) {
  const { topics } = await wire.ask('Metadata', 12, { topics: null })
  const ready = topics.filter(
    (topic) => topic.partitions.length > 0 && topic.partitions.every(({ errorCode }) => errorCode === 0),
  )
  for (const { name, topicId } of ready) topicIds.set(name, topicId)
  if (TOPICS.every(({ name }) => topicIds.has(name))) break
  if (tries > 100) throw new Error('the topics do not come up')
  await new Promise((resolve) => setTimeout(resolve, 100))
}
const aliases = new Aliases(new Map([...topicIds].map(([name, id]) => [id, name])))
const answers = {}
await play({
  topicId: (name) => topicIds.get(name),
  ask: async (label, api, version, body) => {
    let answer = await wire.ask(api, version, body)
    // The first block of producer ids is fetched while it waits.
    while (api === 'InitProducerId' && answer.errorCode === 14) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      answer = await wire.ask(api, version, body)
    }
    if (label in answers) throw new Error(`the label ${label} stands twice`)
    answers[label] = typeof answer === 'string' ? answer : normalize(api, answer, aliases)
    return answer
  },
})
wire.end()
const lines = Object.entries(answers).map(([label, answer]) => JSON.stringify({ label, answer }))
writeFileSync(file, `${lines.join('\n')}\n`)
console.log(`${Object.keys(answers).length} answers in ${file}`)
