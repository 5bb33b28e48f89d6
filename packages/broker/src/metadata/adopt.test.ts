import assert from 'node:assert/strict'
import { type AdoptionInput, type FoundFolder, planAdoption } from './adopt.js'
import { NO_LEADER, type PartitionImage, type TopicImage, ZERO_TOPIC_ID } from './image.js'

const ID = 'N9-5TBAITraToIwRuqzy7Q'
const OTHER = '9OWSmy3mQTKl1e47DNG8Ag'
const folder = (topic: string, index: number, topicId: string | null = ID, latestEpoch = 0): FoundFolder => ({
  topic,
  index,
  topicId,
  latestEpoch,
})
const led: PartitionImage = {
  leader: 1,
  leaderEpoch: 3,
  isr: [1],
  replicas: [1],
  offlineReplicas: [],
  addingReplicas: [],
  removingReplicas: [],
  partitionEpoch: 2,
  controllerEpoch: 1,
}
/** Made by the controller, but its state was not written before the process ended. */
const never: PartitionImage = { ...led, leader: NO_LEADER, leaderEpoch: -1, isr: [], partitionEpoch: -1 }
const topic = (name: string, partitions: readonly PartitionImage[], topicId = ID): TopicImage => ({
  name,
  topicId,
  isInternal: false,
  configs: { a: 'b' },
  partitions,
})

function plan(folders: readonly FoundFolder[], known: readonly TopicImage[] = [], more: Partial<AdoptionInput> = {}) {
  return planAdoption({
    brokerId: 1,
    store: known.length === 0 ? 'new' : 'found',
    directories: [{ path: '/d', stoppedCleanly: true, folders }],
    topic: (name) => known.find((each) => each.name === name),
    topics: known,
    deleting: new Set(),
    ...more,
  })
}

describe('what adoption makes of the folders it finds', () => {
  it('makes of folders that the store does not know topics with their ids, without leaders yet', () => {
    const { newTopics, adopted, lines } = plan([folder('t', 1), folder('t', 0), folder('__consumer_offsets', 4, OTHER)])
    assert.deepEqual(adopted, ['t', '__consumer_offsets'])
    const [t, offsets] = newTopics
    assert.deepEqual(
      [t?.topicId, t?.partitions.length, t?.isInternal, offsets?.partitions.length, offsets?.isInternal],
      [ID, 2, false, 5, true],
    )
    assert.ok(
      t?.partitions.every(
        ({ leader, partitionEpoch, replicas }) => leader === NO_LEADER && partitionEpoch === -1 && replicas[0] === 1,
      ),
    )
    assert.match(
      lines[0]!.message,
      /^adopted 2 topics \(3 partitions\) from \/d: no metadata of ours was there\. Nothing of them is deleted or cleaned/,
    )
  })

  it('gives partitions missing in between their state at once, so that no start takes them for new', () => {
    const { newTopics } = plan([folder('t', 0), folder('t', 2)])
    assert.deepEqual(
      newTopics[0]?.partitions.map(({ leader, isr }) => [leader, isr]),
      [
        [NO_LEADER, []],
        [NO_LEADER, [1]],
        [NO_LEADER, []],
      ],
    )
  })

  it('leaves a folder alone whose number no partition has', () => {
    const { newTopics, lines } = plan([folder('t', 0), folder('backup', 20_231_231)])
    assert.deepEqual(
      newTopics.map(({ name }) => name),
      ['t'],
    )
    assert.equal(lines[1]?.message, '/d/backup-20231231 is left alone: no topic has that many partitions')
  })

  it('says nothing and changes nothing when store and disk agree', () => {
    const { newTopics, grownTopics, adopted, lines, facts } = plan(
      [folder('t', 0), folder('t', 1, null)],
      [topic('t', [led, led])],
    )
    assert.deepEqual([newTopics, grownTopics, adopted, lines], [[], [], [], []])
    assert.equal(facts('t', 0).problem, null)
  })

  it('lets a topic of the store grow by folders behind its last partition, and take the id that it lacked', () => {
    const grown = plan([folder('t', 0), folder('t', 3)], [topic('t', [led])])
    assert.deepEqual(
      grown.grownTopics.map(({ partitions, configs }) => [partitions.length, partitions[0], configs]),
      [[4, led, { a: 'b' }]],
    )
    assert.deepEqual(grown.adopted, ['t'])
    assert.deepEqual(
      grown.lines.map(({ message }) => message.split(':')[1]),
      [
        ' the metadata did not know them. Nothing of them is deleted or cleaned until their configs are known',
        ' adopted partitions 3, which the metadata did not know',
        ' partitions 1-2 are offline',
      ],
    )
    const named = plan([folder('t', 0)], [topic('t', [led], ZERO_TOPIC_ID)])
    assert.deepEqual([named.grownTopics[0]?.topicId, named.adopted], [ID, []])
  })

  it('takes partitions offline whose folder has another id, and trusts most folders of a topic that it did not know', () => {
    const known = plan([folder('t', 0, OTHER)], [topic('t', [led])])
    assert.match(known.facts('t', 0).problem ?? '', /^its folder belongs to the topic id 9OWS.*, the topic has N9-5/)
    assert.deepEqual(
      known.lines.map(({ level }) => level),
      ['error'],
    )
    const unknown = plan([folder('t', 0, OTHER), folder('t', 1), folder('t', 2), folder('t', 3, null)])
    assert.equal(unknown.newTopics[0]?.topicId, ID)
    assert.deepEqual(
      [0, 1, 2, 3].map((index) => unknown.facts('t', index).problem === null),
      [false, true, true, true],
    )
    assert.equal(plan([folder('t', 1), folder('t', 0, OTHER)]).newTopics[0]?.topicId, OTHER) // a tie: the lowest index
  })

  it('takes partitions offline whose folder is gone, but not those that never had one or lie elsewhere', () => {
    const elsewhere = { ...led, replicas: [2], isr: [2], leader: 2 }
    const { facts, lines } = plan([], [topic('t', [led, never, elsewhere, led])])
    assert.deepEqual(
      [0, 1, 2, 3].map((index) => facts('t', index).problem !== null),
      [true, false, false, true],
    )
    assert.deepEqual(
      lines.map(({ message }) => message),
      ['t: partitions 0, 3 are offline: their folders are missing in the log directories'],
    )
  })

  it('neither misses nor adopts folders of a topic that is being deleted', () => {
    const deleting = { deleting: new Set(['t']) }
    assert.deepEqual(plan([], [topic('t', [led])], deleting).lines, [])
    assert.deepEqual(plan([folder('t', 0)], [], deleting).newTopics, [])
  })

  it('gives each partition the latest epoch and the kind of stop of its own directory', () => {
    const directories = [
      { path: '/a', stoppedCleanly: true, folders: [folder('t', 0, ID, 5)] },
      { path: '/b', stoppedCleanly: false, folders: [folder('t', 1, ID, 7)] },
    ]
    const { facts } = plan([], [topic('t', [led, led])], { directories })
    assert.deepEqual(facts('t', 0), { epochInLog: 5, stoppedCleanly: true, problem: null })
    assert.deepEqual(facts('t', 1), { epochInLog: 7, stoppedCleanly: false, problem: null })
  })
})
