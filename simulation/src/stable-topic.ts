/** The topic that is there all the time: its partitions' histories, and the look at all of it after each start. */
import type { Client } from './client.js'
import { PartitionHistory } from './history.js'
import type { Link } from './link.js'
import { endOf, NotNow, nameOfError, readWhole } from './requests.js'
import type { Violations } from './violations.js'

export const TOPIC = 'orders'

export class StableTopic {
  readonly histories: readonly PartitionHistory[]
  readonly #epochs: number[]
  #isCreated = false

  constructor(
    readonly partitions: number,
    promise: 'synced' | 'page cache',
    private readonly violations: Violations,
  ) {
    this.histories = Array.from({ length: partitions }, (_, at) => new PartitionHistory(`${TOPIC}-${at}`, promise, violations))
    this.#epochs = this.histories.map(() => -1)
  }

  get isCreated(): boolean {
    return this.#isCreated
  }

  async create(link: Link): Promise<void> {
    const topics = [{ name: TOPIC, numPartitions: this.partitions, replicationFactor: 1 }]
    const answer = await link.ask('CreateTopics', 5, { topics })
    const error = nameOfError(answer.topics[0]!.errorCode)
    if (error === 'NONE' || error === 'TOPIC_ALREADY_EXISTS') this.#isCreated = true
    else throw new NotNow(error)
  }

  /**
   * Before clients come.
   * @param before how the process before ended: after an unclean end the leader epoch must have risen
   * @param loss whether what was not synced may be gone
   */
  async inspect(client: Client, link: Link, before: 'clean' | 'unclean', loss: 'possible' | 'none'): Promise<void> {
    const answer = await link.ask('Metadata', 12, { topics: [{ name: TOPIC }], allowAutoTopicCreation: false })
    const found = answer.topics[0]!
    if (found.errorCode !== 0 || found.partitions.length !== this.partitions) {
      this.violations.note('an acknowledged topic is gone', `${TOPIC}: ${nameOfError(found.errorCode)}`)
      return
    }
    for (const { partitionIndex, leaderEpoch, errorCode } of found.partitions) {
      const history = this.histories[partitionIndex]!
      if (errorCode !== 0) this.violations.note('a partition is not led', `${history.name}: ${nameOfError(errorCode)}`)
      const last = this.#epochs[partitionIndex]!
      if (leaderEpoch < last || (before === 'unclean' && leaderEpoch === last)) {
        this.violations.note('the leader epoch did not rise', `${history.name}: ${last}, ${before} end, now ${leaderEpoch}`)
      }
      this.#epochs[partitionIndex] = leaderEpoch
    }
    for (const [partition, history] of this.histories.entries()) {
      const end = await endOf(link, TOPIC, partition)
      if (end.error !== 'NONE') throw new Error(`${history.name}: ${end.error}`)
      if (loss === 'possible') history.lostFrom(end.offset)
      const records = await readWhole(link, TOPIC, partition, end.offset)
      client.tell(`sees ${history.name} with ${records.length} records`)
      history.holds(records, end.offset)
    }
  }
}
