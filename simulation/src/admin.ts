/** An administrator who makes and deletes topics all the time, and what is known of them: what was acknowledged must be so after any restart. */
import type { Client } from './client.js'
import { type Link, LinkLost } from './link.js'
import { nameOfError } from './requests.js'

/** `unknown`: the answer did not come, it may be so or not. */
type Known = 'there' | 'gone' | 'unknown'

/** Names are used again, so that a deleted topic's folder meets its successor. */
const NAMES = ['t-a', 't-b', 't-c', 't-d']

export class Admin {
  readonly #topics = new Map<string, { known: Known; id: string | null }>(
    NAMES.map((name) => [name, { known: 'gone', id: null }]),
  )

  constructor(readonly client: Client) {}

  async run(isOver: () => boolean): Promise<void> {
    const { client } = this
    while (!isOver()) {
      try {
        const name = client.chance.one(NAMES)
        const link = await client.link()
        if (this.#topics.get(name)!.known === 'there' || client.chance.happens(0.2)) await this.#delete(link, name)
        else await this.#create(link, name)
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        client.hangUp()
      }
      await client.sleep(20, 500)
    }
    client.hangUp()
  }

  async #create(link: Link, name: string): Promise<void> {
    const topic = this.#topics.get(name)!
    const before = topic.known
    topic.known = 'unknown'
    topic.id = null
    const topics = [{ name, numPartitions: this.client.chance.whole(1, 3), replicationFactor: 1 }]
    const answer = (await link.ask('CreateTopics', 7, { topics })).topics[0]!
    const error = nameOfError(answer.errorCode)
    this.client.tell(`creates ${name}: ${error}`)
    if (error === 'NONE' || error === 'TOPIC_ALREADY_EXISTS') {
      if ((error === 'NONE') === (before === 'there'))
        this.#wrong(`creating ${name}, which is ${before}, was answered with ${error}`, before)
      topic.known = 'there'
      topic.id = error === 'NONE' ? answer.topicId : null
    }
  }

  async #delete(link: Link, name: string): Promise<void> {
    const topic = this.#topics.get(name)!
    const before = topic.known
    topic.known = 'unknown'
    topic.id = null
    const answer = await link.ask('DeleteTopics', 5, { topicNames: [name], timeoutMs: 3000 })
    const error = nameOfError(answer.responses[0]!.errorCode)
    this.client.tell(`deletes ${name}: ${error}`)
    if (error === 'NONE' || error === 'UNKNOWN_TOPIC_OR_PARTITION') {
      if ((error === 'NONE') === (before === 'gone'))
        this.#wrong(`deleting ${name}, which is ${before}, was answered with ${error}`, before)
      topic.known = 'gone'
    }
  }

  #wrong(detail: string, before: Known): void {
    if (before !== 'unknown') this.client.around.violations.note('a topic is not as it was left', detail)
  }

  /** After a start, before clients come. */
  async inspect(link: Link): Promise<void> {
    const { violations } = this.client.around
    const topics = NAMES.map((name) => ({ name }))
    const answer = await link.ask('Metadata', 12, { topics, allowAutoTopicCreation: false })
    for (const { name, errorCode, topicId, partitions } of answer.topics) {
      const topic = this.#topics.get(name!)!
      const error = nameOfError(errorCode)
      if (topic.known === 'there' && error !== 'NONE') violations.note('an acknowledged topic is gone', `${name}: ${error}`)
      if (topic.known === 'gone' && error !== 'UNKNOWN_TOPIC_OR_PARTITION')
        violations.note('a deleted topic is back', `${name}: ${error}`)
      if (topic.known === 'there' && topic.id !== null && topic.id !== topicId) {
        violations.note('a topic has another id', `${name}: ${topic.id}, now ${topicId}`)
      }
      if (error !== 'NONE') continue
      for (const partition of partitions) {
        if (partition.errorCode !== 0)
          violations.note('a partition is not led', `${name}-${partition.partitionIndex}: ${nameOfError(partition.errorCode)}`)
      }
      // What was unknown is known now.
      topic.known = 'there'
      topic.id = topicId
    }
    for (const topic of this.#topics.values()) if (topic.known === 'unknown') topic.known = 'gone'
  }
}
