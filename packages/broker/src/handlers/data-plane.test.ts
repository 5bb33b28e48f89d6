/** The script of the data plane against us: every answer as Apache Kafka 3.9.1 gave it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiName } from '@mq/protocol'
import { Assembly } from './testing/assembly.js'
import { play, TOPICS } from './testing/data-plane-script.js'
import { Aliases, normalize } from './testing/normalize.js'

const FILE = join(__dirname, '..', '..', 'src', 'handlers', 'testing', 'data-plane.3.9.1.jsonl')

describe('the data plane answers as Apache Kafka 3.9.1', () => {
  const expected = new Map<string, unknown>()
  for (const line of readFileSync(FILE, 'utf8').trimEnd().split('\n')) {
    const { label, answer } = JSON.parse(line) as { label: string; answer: unknown }
    expected.set(label, answer)
  }
  const answers = new Map<string, unknown>()

  before(async function () {
    this.timeout(20_000)
    const assembly = await Assembly.start(TOPICS)
    const aliases = new Aliases(new Map(TOPICS.map(({ name }) => [assembly.topicId(name), name])))
    await play({
      topicId: (name) => assembly.topicId(name),
      ask: async (label, api, version, body) => {
        const asked = assembly.ask(api as ApiName, version, body as never)
        // A wait that nothing ends is over when its time is.
        if (label === 'a wait that ends') {
          await new Promise((resolve) => setImmediate(resolve))
          assembly.time.advance(50)
        }
        const answer = await asked
        answers.set(label, typeof answer === 'string' ? answer : JSON.parse(JSON.stringify(normalize(api, answer, aliases))))
        return answer
      },
    })
  })

  it('to as many requests', () => {
    assert.deepEqual([...answers.keys()], [...expected.keys()])
  })

  for (const [label, answer] of expected) {
    it(`to: ${label}`, () => {
      assert.deepEqual(answers.get(label), answer)
    })
  }
})
