import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type ImageChange, MetadataImage, NO_LEADER, type PartitionImage, type TopicImage, ZERO_TOPIC_ID } from './image.js'
import { PersistentMap } from './persistent-map.js'

const partition: PartitionImage = {
  leader: 1,
  leaderEpoch: 0,
  isr: [1],
  replicas: [1],
  offlineReplicas: [],
  addingReplicas: [],
  removingReplicas: [],
  partitionEpoch: 0,
  controllerEpoch: 1,
}
const topic = (name: string, count: number, topicId = `id-of-${name}`): TopicImage => ({
  name,
  topicId,
  isInternal: false,
  partitions: Array.from({ length: count }, () => partition),
  configs: {},
})
const options = { numRuns: 300, ...(process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }) }

describe('the persistent map', () => {
  it('is what a Map is, and an older copy stays what it was', () => {
    const key = fc.constantFrom(...Array.from({ length: 300 }, (_, at) => `key-${at}`))
    const changes = fc.array(fc.array(fc.tuple(key, fc.option(fc.integer(), { nil: undefined })), { maxLength: 60 }), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(changes, (rounds) => {
        let map = PersistentMap.empty<number>()
        const twin = new Map<string, number>()
        const copies: [PersistentMap<number>, Map<string, number>][] = []
        for (const round of rounds) {
          copies.push([map, new Map(twin)])
          map = map.with(round)
          for (const [name, value] of round) {
            if (value === undefined) twin.delete(name)
            else twin.set(name, value)
          }
        }
        for (const [copy, wanted] of [...copies, [map, twin] as const]) {
          assert.equal(copy.size, wanted.size)
          assert.deepEqual(new Map(copy), wanted)
          for (const name of wanted.keys()) assert.ok(copy.has(name))
          assert.equal(copy.get('none'), undefined)
        }
      }),
      options,
    )
  })

  it('copies a few entries, not all, for one change', () => {
    const big = PersistentMap.from(Array.from({ length: 10_000 }, (_, at) => [`topic-${at}`, at] as const))
    const next = big.with([['topic-5000', -1]])
    const touched = next.buckets.filter((bucket, at) => bucket !== big.buckets[at])
    assert.equal(touched.length, 1)
    assert.ok(touched[0]!.size < 100, `${touched[0]!.size} entries copied`)
    assert.deepEqual([big.get('topic-5000'), next.get('topic-5000')], [5000, -1])
  })
})

describe('the metadata image', () => {
  it('finds topics by name and by id, partitions, and names that collide', () => {
    const image = MetadataImage.empty.with({
      topics: [topic('a.b', 2), topic('old', 1, ZERO_TOPIC_ID)],
      clusterId: 'c',
      controllerId: 1,
    })
    assert.equal(image.topicById('id-of-a.b')?.name, 'a.b')
    assert.equal(image.topicById(ZERO_TOPIC_ID), undefined)
    assert.equal(image.partition('a.b', 1), image.topic('a.b')?.partitions[1])
    assert.equal(image.partition('a.b', 2), undefined)
    assert.deepEqual([image.collisions('a_b'), image.collisions('a.b'), image.collisions('x')], [['a.b'], [], []])
    assert.deepEqual([image.clusterId, image.controllerId, image.topicCount, image.partitionCount], ['c', 1, 2, 3])
  })

  it('takes a topic made anew under its old name for another one', () => {
    const image = MetadataImage.empty
      .with({ topics: [topic('t', 2, 'first')] })
      .with({ topicsGone: ['t'], topics: [topic('t', 5, 'second')] })
    assert.deepEqual([image.topicById('first'), image.topicById('second')?.name, image.partitionCount], [undefined, 't', 5])
  })

  it('is changed by copies: an older one stays what it was', () => {
    const names = fc.constantFrom('a.b', 'a_b', 'c', 'd', 'e.f', 'e_f')
    const change: fc.Arbitrary<ImageChange> = fc.record({
      topics: fc.uniqueArray(
        fc.tuple(names, fc.nat(3), fc.constantFrom('1', '2')).map(([name, count, id]) => topic(name, count, `${name}-${id}`)),
        { selector: ({ name }) => name, maxLength: 3 },
      ),
      topicsGone: fc.array(names, { maxLength: 2 }),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 15 }), (changes) => {
        let image = MetadataImage.empty
        const twin = new Map<string, TopicImage>()
        for (const each of changes) {
          const before = [...image.topics()].map(({ name }) => name).sort()
          const next = image.with(each)
          assert.deepEqual([...image.topics()].map(({ name }) => name).sort(), before)
          image = next
          for (const name of each.topicsGone ?? []) twin.delete(name)
          for (const made of each.topics ?? []) twin.set(made.name, made)
        }
        const all = [...twin.values()]
        assert.deepEqual(new Map([...image.topics()].map((each) => [each.name, each])), twin)
        assert.equal(
          image.partitionCount,
          all.reduce((sum, { partitions }) => sum + partitions.length, 0),
        )
        for (const each of all) {
          assert.equal(image.topicById(each.topicId), each)
          const others = all.filter(
            (other) => other !== each && other.name.replaceAll('.', '_') === each.name.replaceAll('.', '_'),
          )
          assert.deepEqual([...image.collisions(each.name)].sort(), others.map(({ name }) => name).sort())
        }
        for (const name of ['a.b', 'c'])
          for (const id of ['1', '2'])
            if (!all.some(({ topicId }) => topicId === `${name}-${id}`)) assert.equal(image.topicById(`${name}-${id}`), undefined)
      }),
      options,
    )
  })

  it('knows brokers that came and went', () => {
    const broker = (id: number) => ({ id, epoch: id, rack: null, endpoints: [] })
    const image = MetadataImage.empty.with({ brokers: [broker(1), broker(2)] })
    assert.deepEqual([...image.with({ brokersGone: [1] }).brokers.keys()], [2])
    assert.deepEqual([...image.brokers.keys()], [1, 2])
    assert.equal(NO_LEADER, -1)
  })
})
