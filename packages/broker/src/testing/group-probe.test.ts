import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBroker } from '../start-broker.js'
import { type Answers, PROBE_TOPIC, probeGroups, someRoundTrips } from './group-probe.js'
import { RawClient } from './raw-client.js'

/** Where we answer otherwise on purpose: an id that was given out is not forgotten because somebody deletes offsets meanwhile. */
const OTHERWISE: Readonly<Record<string, { readonly after: string }>> = { 'id given out: delete its offsets': { after: 'Empty' } }

describe('group answers', () => {
  it('are those of Apache Kafka 3.9.1 in every state, to right and wrong words', async function () {
    this.timeout(60_000)
    const given = readFileSync(join(__dirname, '..', '..', 'src', 'testing', 'group-answers.jsonl'), 'utf8')
    const lines = given.trim().split('\n')
    const expected = Object.fromEntries(lines.map((line) => JSON.parse(line) as [string, Answers[string]]))
    const broker = await startBroker({
      configs: {
        'group.max.size': 3,
        'group.min.session.timeout.ms': 1000,
        'group.initial.rebalance.delay.ms': 0,
        'offsets.topic.num.partitions': 3,
      },
    })
    try {
      const client = await RawClient.connect(broker.port)
      await client.ask('CreateTopics', 5, {
        topics: [{ name: PROBE_TOPIC, numPartitions: 3, replicationFactor: 1 }],
        timeoutMs: 5000,
      })
      client.socket.destroy()
      const actual = await probeGroups('127.0.0.1', broker.port, '', someRoundTrips)
      assert.ok(Object.keys(expected).length > 450)
      assert.deepEqual(Object.keys(actual), Object.keys(expected))
      for (const [question, answer] of Object.entries(expected)) {
        assert.deepEqual(actual[question], { ...answer, ...OTHERWISE[question] }, question)
      }
    } finally {
      await broker.close()
    }
  })
})
