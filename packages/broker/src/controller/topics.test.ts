import assert from 'node:assert/strict'
import { type BrokerImage, MetadataImage, type TopicImage, ZERO_TOPIC_ID } from '../metadata/image.js'
import type { ControllerDefaults, CreatableTopic, NewPartitions, TopicConfigRules } from './api.js'
import { decideCreatePartitions } from './create-partitions.js'
import { decideCreateTopics } from './create-topics.js'
import { newPartition } from './decision.js'
import { decideDeleteTopics } from './delete-topics.js'
import { decideChangeConfigs, decideReplaceConfigs } from './topic-configs.js'

const configs: TopicConfigRules = {
  problem: (overrides) => {
    for (const [name, value] of Object.entries(overrides)) {
      if (!configs.isKnown(name)) return `Unknown topic config name: ${name}`
      if (name === 'retention.ms' && !/^-?\d+$/.test(value))
        return `Invalid value ${value} for configuration ${name}: Not a number of type LONG`
    }
    return null
  },
  isKnown: (name) => ['retention.ms', 'cleanup.policy', 'segment.bytes'].includes(name),
  isList: (name) => name === 'cleanup.policy',
  defaultOf: (name) => (name === 'cleanup.policy' ? 'delete' : ''),
}
const defaults: ControllerDefaults = { numPartitions: 3, replicationFactor: 1, internalTopics: {}, deleteTopicEnable: true }
const broker = (id: number): BrokerImage => ({ id, epoch: id, rack: null, endpoints: [] })
const random = { next: () => 0, bytes: (count: number) => Buffer.alloc(count, 7) }

function topicImage(name: string, replicas: number[][], topicId = ZERO_TOPIC_ID): TopicImage {
  const live = new Map(replicas.flat().map((id) => [id, 0]))
  return { name, topicId, isInternal: false, configs: {}, partitions: replicas.map((each) => newPartition(each, live, 1)) }
}

const TOPIC_ID = 'N9-5TBAITraToIwRuqzy7Q'
const image = MetadataImage.empty.with({
  brokers: [broker(1)],
  controllerId: 1,
  controllerEpoch: 4,
  topics: [topicImage('there', [[1], [1]], TOPIC_ID), topicImage('a.b', [[1]])],
})
const rules = { image, deleting: new Set(['going']), defaults, configs, random }
const wanted = (name: string, more: Partial<CreatableTopic> = {}): CreatableTopic => ({
  name,
  numPartitions: -1,
  replicationFactor: -1,
  assignments: [],
  configs: [],
  ...more,
})

describe('CreateTopics', () => {
  const results = (...topics: CreatableTopic[]) =>
    decideCreateTopics(rules, topics).map(
      ({ result }) => `${result.error}${result.message === null ? '' : `: ${result.message}`}`,
    )

  it('takes counts from the defaults and gives an id, a leader and the first epoch', () => {
    const [decision] = decideCreateTopics(rules, [wanted('new')])
    assert.ok(decision?.effect?.kind === 'writeTopic')
    const { topic } = decision.effect
    assert.equal(topic.partitions.length, 3)
    assert.match(topic.topicId, /^[A-Za-z0-9_-]{22}$/)
    for (const partition of topic.partitions) {
      const { leader, leaderEpoch, isr, replicas, controllerEpoch } = partition
      assert.deepEqual(
        { leader, leaderEpoch, isr, replicas, controllerEpoch },
        { leader: 1, leaderEpoch: 0, isr: [1], replicas: [1], controllerEpoch: 4 },
      )
    }
    const { numPartitions, replicationFactor, topicId } = decision.result
    assert.deepEqual([numPartitions, replicationFactor, topicId], [3, 1, topic.topicId])
  })

  it('refuses names that exist, collide, are marked for deletion or are not allowed', () => {
    assert.deepEqual(results(wanted('there')), ["TOPIC_ALREADY_EXISTS: Topic 'there' already exists."])
    assert.deepEqual(results(wanted('a_b')), ["INVALID_TOPIC_EXCEPTION: Topic 'a_b' collides with existing topics: a.b"])
    assert.deepEqual(results(wanted('going')), ["TOPIC_ALREADY_EXISTS: Topic 'going' is marked for deletion."])
    const empty = 'INVALID_TOPIC_EXCEPTION: Topic name is invalid: the empty string is not allowed'
    assert.deepEqual(results(wanted('')), [empty])
    for (const name of ['.', '..', '../../etc/passwd', 'a b', 'é', 'x'.repeat(250)]) {
      assert.match(results(wanted(name))[0]!, /^INVALID_TOPIC_EXCEPTION/, name)
    }
    assert.deepEqual(results(wanted('x'.repeat(249))), ['NONE'])
    const internal = 'INVALID_REQUEST: Creation of internal topic __cluster_metadata is prohibited.'
    assert.deepEqual(results(wanted('__cluster_metadata')), [internal])
  })

  it('refuses each entry of a name that stands twice, and the second of two names that collide', () => {
    const twice = 'INVALID_REQUEST: Found multiple entries for this topic.'
    assert.deepEqual(results(wanted('t'), wanted('u'), wanted('t')), [twice, 'NONE', twice])
    assert.deepEqual(
      results(wanted('p.q'), wanted('p_q'))[1],
      "INVALID_TOPIC_EXCEPTION: Topic 'p_q' collides with existing topics: p.q",
    )
  })

  it('refuses counts that cannot be', () => {
    assert.match(results(wanted('t', { numPartitions: 0 }))[0]!, /^INVALID_PARTITIONS/)
    assert.match(results(wanted('t', { numPartitions: -2 }))[0]!, /^INVALID_PARTITIONS/)
    assert.match(results(wanted('t', { replicationFactor: 0 }))[0]!, /^INVALID_REPLICATION_FACTOR/)
    assert.match(
      results(wanted('t', { replicationFactor: 2 }))[0]!,
      /^INVALID_REPLICATION_FACTOR: Replication factor: 2 larger than available/,
    )
  })

  it('takes an assignment as it stands, or says what is wrong with it', () => {
    const assigned = (...lists: [number, number[]][]) =>
      wanted('t', { assignments: lists.map(([partitionIndex, brokerIds]) => ({ partitionIndex, brokerIds })) })
    assert.deepEqual(results(assigned([1, [1]], [0, [1]])), ['NONE'])
    const wrong: [CreatableTopic, RegExp][] = [
      [assigned([0, [1]], [1, [1, 2]]), /same number of replicas/],
      [assigned([0, [1, 1]]), /Duplicate replica assignment found: Map\(0 -> List\(1, 1\)\)/],
      [assigned([1, [1]]), /consecutive 0-based/],
      [assigned([0, [1]], [0, [1]]), /consecutive 0-based/],
      [assigned([-1, [1]], [0, [1]]), /consecutive 0-based/],
      [assigned([0, []]), /list of brokers is empty/],
    ]
    for (const [topic, message] of wrong) {
      assert.match(results(topic)[0]!, /^INVALID_REPLICA_ASSIGNMENT/)
      assert.match(results(topic)[0]!, message)
    }
    assert.match(results({ ...assigned([0, [1]]), numPartitions: 1 })[0]!, /^INVALID_REQUEST: Both numPartitions/)
  })

  it('makes a topic on brokers that are not there, which waits for them without a leader', () => {
    const [decision] = decideCreateTopics(rules, [wanted('t', { assignments: [{ partitionIndex: 0, brokerIds: [9] }] })])
    assert.equal(decision?.result.error, 'NONE')
    assert.ok(decision.effect?.kind === 'writeTopic')
    assert.deepEqual([decision.effect.topic.partitions[0]?.leader, decision.effect.topic.partitions[0]?.isr], [-1, []])
  })

  it('refuses unknown configs, bad values and null values', () => {
    const config = (name: string, value: string | null) => wanted('t', { configs: [{ name, value }] })
    assert.deepEqual(results(config('nonsense', '1')), ['INVALID_CONFIG: Unknown topic config name: nonsense'])
    assert.match(results(config('retention.ms', 'x'))[0]!, /^INVALID_CONFIG: Invalid value x/)
    assert.deepEqual(results(config('retention.ms', null)), [
      'INVALID_CONFIG: Null value not supported for topic configs: retention.ms',
    ])
    const [decision] = decideCreateTopics(rules, [config('retention.ms', '5')])
    assert.deepEqual(decision?.result.configs, { 'retention.ms': '5' })
  })

  it('refuses a request for more than 10,000 new partitions, without placing them', () => {
    assert.deepEqual(results(wanted('t', { numPartitions: 10_000 })), ['NONE'])
    assert.match(results(wanted('t', { numPartitions: 10_001 }))[0]!, /^INVALID_PARTITIONS: One request may make 10000/)
    assert.match(results(wanted('t', { numPartitions: 2 ** 31 - 1 }))[0]!, /^INVALID_PARTITIONS/)
    const half = (name: string) => wanted(name, { numPartitions: 6000 })
    assert.match(
      results(half('t'), half('u'), wanted('there')).join(),
      /^INVALID_PARTITIONS.*,INVALID_PARTITIONS.*,TOPIC_ALREADY_EXISTS/,
    )
  })
})

describe('CreatePartitions', () => {
  const more = (name: string, count: number, assignments: NewPartitions['assignments'] = null) => ({ name, count, assignments })
  const results = (...requests: NewPartitions[]) =>
    decideCreatePartitions(rules, requests).map(
      ({ result }) => `${result.error}${result.message === null ? '' : `: ${result.message}`}`,
    )

  it('adds partitions behind the present ones', () => {
    const [decision] = decideCreatePartitions(rules, [more('there', 4)])
    assert.ok(decision?.effect?.kind === 'writeTopic')
    assert.equal(decision.effect.firstNew, 2)
    assert.deepEqual(
      decision.effect.topic.partitions.map(({ replicas }) => replicas),
      [[1], [1], [1], [1]],
    )
  })

  it('refuses fewer, as many, unknown topics, topics being deleted and names that stand twice', () => {
    assert.deepEqual(results(more('there', 1)), [
      'INVALID_PARTITIONS: Topic currently has 2 partitions, which is higher than the requested 1.',
    ])
    assert.deepEqual(results(more('there', 2)), ['INVALID_PARTITIONS: Topic already has 2 partitions.'])
    assert.deepEqual(results(more('none', 2)), ["UNKNOWN_TOPIC_OR_PARTITION: The topic 'none' does not exist."])
    assert.deepEqual(results(more('going', 2)), ['INVALID_TOPIC_EXCEPTION: The topic is queued for deletion.'])
    assert.deepEqual(results(more('there', 3), more('there', 4)), ['INVALID_REQUEST: Duplicate topic in request.'])
    assert.match(results(more('there', 10_003))[0]!, /^INVALID_PARTITIONS: One request may make 10000/)
    assert.match(results(more('there', 2 ** 31 - 1))[0]!, /^INVALID_PARTITIONS/)
    const [unknown, known] = results(more('none', 10_003), more('there', 3))
    assert.match(unknown!, /^UNKNOWN_TOPIC_OR_PARTITION/)
    assert.equal(known, 'NONE')
  })

  it('checks an assignment', () => {
    assert.deepEqual(results(more('there', 3, [[1]])), ['NONE'])
    assert.match(
      results(more('there', 3, [[7]]))[0]!,
      /^INVALID_REPLICA_ASSIGNMENT: Unknown broker\(s\) in replica assignment: 7\./,
    )
    assert.match(results(more('there', 4, [[1]]))[0]!, /Increasing the number of partitions by 2 but 1 assignments provided\./)
    assert.match(results(more('there', 3, [[]]))[0]!, /Cannot have replication factor of 0 for partition id 2\./)
    assert.match(
      results(more('there', 3, [[1, 1]]))[0]!,
      /Duplicate brokers not allowed in replica assignment: 1, 1 for partition id 2\./,
    )
  })
})

describe('DeleteTopics', () => {
  const results = (...topics: { name: string | null; topicId: string }[]) =>
    decideDeleteTopics(rules, topics).map(({ result }) => [result.error, result.name])

  it('takes names and ids, and deletes a topic once', () => {
    const byName = { name: 'there', topicId: ZERO_TOPIC_ID }
    const byId = { name: null, topicId: TOPIC_ID }
    assert.deepEqual(results(byName, byId), [
      ['NONE', 'there'],
      ['NONE', 'there'],
    ])
    const effects = decideDeleteTopics(rules, [byName, byId]).filter(({ effect }) => effect !== null)
    assert.equal(effects.length, 1)
  })

  it('refuses unknown names and ids, both at once, and everything when deletion is off', () => {
    assert.deepEqual(results({ name: 'none', topicId: ZERO_TOPIC_ID }), [['UNKNOWN_TOPIC_OR_PARTITION', 'none']])
    assert.deepEqual(results({ name: null, topicId: 'AAAAAAAAAAAAAAAAAAAAAQ' }), [['UNKNOWN_TOPIC_ID', null]])
    assert.equal(results({ name: 'there', topicId: TOPIC_ID })[0]?.[0], 'INVALID_REQUEST')
    const off = decideDeleteTopics({ ...rules, defaults: { ...defaults, deleteTopicEnable: false } }, [
      { name: 'there', topicId: ZERO_TOPIC_ID },
    ])
    assert.equal(off[0]?.result.error, 'TOPIC_DELETION_DISABLED')
  })
})

describe('altering topic configs', () => {
  const withConfigs = {
    ...rules,
    image: image.with({ topics: [{ ...image.topic('there')!, configs: { 'retention.ms': '1', 'cleanup.policy': 'compact' } }] }),
  }
  const change = (...changes: Parameters<typeof decideChangeConfigs>[2][number][]) =>
    decideChangeConfigs(withConfigs, 'there', changes)

  it('replaces all overrides, or changes some', () => {
    const replaced = decideReplaceConfigs(withConfigs, 'there', [{ name: 'segment.bytes', value: '100' }])
    assert.ok(replaced.effect?.kind === 'writeConfigs')
    assert.deepEqual(replaced.effect.topic.configs, { 'segment.bytes': '100' })
    const changed = change(
      { name: 'retention.ms', operation: 'delete', value: null },
      { name: 'segment.bytes', operation: 'set', value: '7' },
      { name: 'cleanup.policy', operation: 'append', value: 'delete,compact' },
    )
    assert.ok(changed.effect?.kind === 'writeConfigs')
    assert.deepEqual(changed.effect.topic.configs, { 'segment.bytes': '7', 'cleanup.policy': 'compact,delete' })
    assert.deepEqual(changed.effect.names, ['retention.ms', 'segment.bytes', 'cleanup.policy'])
    const subtracted = change({ name: 'cleanup.policy', operation: 'subtract', value: 'compact' })
    assert.ok(subtracted.effect?.kind === 'writeConfigs' && subtracted.effect.topic.configs['cleanup.policy'] === '')
  })

  it('appends to the default where there is no override', () => {
    const { effect } = decideChangeConfigs(rules, 'there', [{ name: 'cleanup.policy', operation: 'append', value: 'compact' }])
    assert.ok(effect?.kind === 'writeConfigs' && effect.topic.configs['cleanup.policy'] === 'delete,compact')
  })

  it('takes names that every object has for what they are: unknown', () => {
    for (const operation of ['set', 'append', 'subtract'] as const) {
      for (const name of ['__proto__', 'constructor']) {
        assert.equal(change({ name, operation, value: 'x' }).result.error, 'INVALID_CONFIG', `${operation} ${name}`)
      }
    }
    assert.equal(change({ name: '__proto__', operation: 'delete', value: null }).result.error, 'NONE')
  })

  it('refuses in the words of 3.9.1', () => {
    const { result } = change({ name: 'retention.ms', operation: 'append', value: '1' })
    assert.deepEqual(
      [result.error, result.message],
      ['INVALID_CONFIG', 'Config value append is not allowed for config key: retention.ms'],
    )
    assert.equal(change({ name: 'x', operation: 'append', value: '1' }).result.message, 'Unknown config name: x')
    assert.equal(change({ name: 'x', operation: 'set', value: '1' }).result.message, 'Unknown topic config name: x')
    const bad = change({ name: 'retention.ms', operation: 'set', value: 'x' }).result
    assert.match(
      bad.message ?? '',
      /^Invalid config value for resource ConfigResource\(type=TOPIC, name='there'\): Invalid value x/,
    )
    const none = decideReplaceConfigs(rules, 'none', []).result
    assert.deepEqual([none.error, none.message], ['UNKNOWN_TOPIC_OR_PARTITION', "The topic 'none' does not exist."])
    assert.equal(decideReplaceConfigs(rules, '', []).result.error, 'INVALID_REQUEST')
  })
})
