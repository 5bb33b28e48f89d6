import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { vectors } from '../../../../conformance/index.js'
import { startBroker } from '../start-broker.js'
import { StartError } from '../start-error.js'
import { RawClient } from '../testing/raw-client.js'
import { EmbeddedStore } from './embedded.js'
import { importTree } from './import.js'
import { exportMetadata, importMetadata } from './offline.js'
import type { MetadataStore } from './store.js'
import { putNode } from './subtree.js'
import { exportTree, parseTree, TreeFileError } from './tree-file.js'
import { ZNODES } from './znodes.js'

const TREES = vectors.files('znodes').filter((file) => file.endsWith('.json'))
const STOPPED = vectors.text('znodes/one-broker-stopped.json')

interface Given {
  readonly path: string
  readonly data: string | null
  readonly ephemeral: boolean
}

/** What an import is to take: no registrations, no notices, nothing of ZooKeeper itself. */
const isTaken = ({ path, ephemeral }: Given) =>
  !ephemeral && path !== '/' && !/^\/zookeeper|\/(config_change_|acl_changes_|isr_change_|log_dir_event_)\d+$/.test(path)

describe('import and export of metadata', () => {
  let embedded: EmbeddedStore
  let store: MetadataStore
  beforeEach(() => {
    embedded = EmbeddedStore.inMemory({ now: () => 1 })
    store = embedded.connect()
  })
  afterEach(() => embedded.close())

  const text = async (path: string) => (await store.get(path))?.data?.toString() ?? null
  const fileOf = (...nodes: [string, string | null][]) =>
    JSON.stringify(nodes.map(([path, data]) => ({ path, data, ephemeral: false })))

  for (const file of TREES) {
    it(`takes ${file} whole, and exports it again`, async () => {
      const given = vectors.json<Given[]>(file)
      const block = given.find(({ path }) => path === '/latest_producer_id_block')?.data
      await importTree(store, parseTree(vectors.text(file)), block ? JSON.parse(block).broker : 1)
      const exported = JSON.parse(await exportTree(store)) as Given[]
      const wanted = given.filter(isTaken)
      const found = new Map(exported.map((node) => [node.path, node]))
      for (const { path, data } of wanted) {
        const written = found.get(path)?.data
        if (written !== data) assert.deepEqual(JSON.parse(written ?? ''), JSON.parse(data ?? ''), path) // order of partitions
      }
      const more = exported.map(({ path }) => path).filter((path) => path !== '/' && !wanted.some((node) => node.path === path))
      assert.deepEqual(more, [])
    })
  }

  it('changes nothing when it is done twice', async () => {
    await importTree(store, parseTree(STOPPED), 1)
    const once = (await exportTree(store)).replace(/"version":\d+,"cversion":\d+/g, '')
    await importTree(store, parseTree(STOPPED), 1)
    assert.equal((await exportTree(store)).replace(/"version":\d+,"cversion":\d+/g, ''), once)
  })

  it('keeps the assignment and the states of a topic that is here, and takes its configs', async () => {
    const topicId = 'N9-5TBAITraToIwRuqzy7Q'
    const partitions = new Map([[0, [7]]])
    const none = new Map<number, number[]>()
    await putNode(
      store,
      ZNODES.topic.path('ib-a'),
      ZNODES.topic.encode({ topicId, partitions, addingReplicas: none, removingReplicas: none }),
    )
    const state = { controllerEpoch: 9, leader: 7, leaderEpoch: 5, isr: [7], isRecovering: false }
    await putNode(store, ZNODES.partitionState.path('ib-a', 0), ZNODES.partitionState.encode(state))
    for (const name of ['ib-a', 'ib-b', 'unknown']) await putNode(store, ZNODES.heldTopic.path(name), null)
    const { released, newTopics } = await importTree(store, parseTree(STOPPED), 7)
    assert.deepEqual(JSON.parse((await text('/brokers/topics/ib-a'))!).partitions, { 0: [7], 1: [1], 2: [1] })
    assert.deepEqual(JSON.parse((await text('/brokers/topics/ib-a/partitions/0/state'))!).leader_epoch, 5)
    assert.equal(await text('/config/topics/ib-b'), '{"version":1,"config":{"retention.ms":"1234567"}}')
    assert.deepEqual(released, ['ib-a', 'ib-b'])
    assert.deepEqual(await store.children('/mq/held'), ['unknown'])
    assert.ok(newTopics.includes('ib-c') && !newTopics.includes('ib-a'))
  })

  it('holds a new topic until its configs are known, by the same file or a later one', async () => {
    const topic = JSON.stringify({ version: 3, topic_id: 'AAAAAAAAAAAAAAAAAAAABQ', partitions: { 0: [1] } })
    const isHeld = async () => (await store.exists(ZNODES.heldTopic.path('t'))) !== null
    await importTree(store, parseTree(fileOf(['/brokers/topics/t', topic])), 1)
    assert.equal(await isHeld(), true)
    const config = ['/config/topics/t', '{"version":1,"config":{}}'] as [string, string]
    assert.deepEqual((await importTree(store, parseTree(fileOf(['/brokers/topics/t', topic], config)), 1)).released, ['t'])
    assert.equal(await isHeld(), false)
    const both = [
      ['/brokers/topics/u', topic.replace('BQ', 'Bg')],
      ['/config/topics/u', config[1]],
    ] as [string, string][]
    await importTree(store, parseTree(fileOf(...both)), 1)
    assert.deepEqual(await store.children(ZNODES.held.path()), [])
  })

  it('does not take the configs of another topic of the same name', async () => {
    const assignment = {
      topicId: 'AAAAAAAAAAAAAAAAAAAABQ',
      partitions: new Map([[0, [1]]]),
      addingReplicas: new Map(),
      removingReplicas: new Map(),
    }
    await putNode(store, ZNODES.topic.path('ib-b'), ZNODES.topic.encode(assignment))
    await putNode(store, ZNODES.heldTopic.path('ib-b'), null)
    const { left, released } = await importTree(store, parseTree(STOPPED), 1)
    assert.match(
      left.join('\n'),
      /^topic ib-b: the file has the id 9OWSmy3mQTKl1e47DNG8Ag, the topic here AAAAAAAAAAAAAAAAAAAABQ/,
    )
    assert.deepEqual([released, await text('/config/topics/ib-b')], [[], null])
  })

  it('gives out no producer id of a block that the file knows, and lowers no controller epoch', async () => {
    await putNode(store, '/controller_epoch', Buffer.from('8'))
    await putNode(store, '/latest_producer_id_block', ZNODES.producerIdBlock.encode({ broker: 1, firstId: 0, lastId: 999 }))
    await importTree(
      store,
      parseTree(
        fileOf(
          ['/controller_epoch', '3'],
          ['/latest_producer_id_block', '{"version":1,"broker":2,"block_start":"7000","block_end":"7999"}'],
        ),
      ),
      1,
    )
    assert.deepEqual(
      [await text('/controller_epoch'), await text('/latest_producer_id_block')],
      ['8', '{"version":1,"broker":1,"block_start":"7000","block_end":"7999"}'],
    )
  })

  it('carries out no order of the other cluster', async () => {
    const orders = fileOf(['/admin/delete_topics/t', null], ['/admin/reassign_partitions', '{"version":1,"partitions":[]}'])
    const { left } = await importTree(store, parseTree(orders), 1)
    assert.deepEqual(left.map((line) => line.split(':')[0]).sort(), ['/admin/delete_topics/t', '/admin/reassign_partitions'])
    assert.deepEqual(await store.children('/admin/delete_topics'), [])
  })

  it('refuses a file of another cluster, or one that is no tree, before it writes anything', async () => {
    await putNode(store, ZNODES.clusterId.path(), ZNODES.clusterId.encode('3Plo15CCRBieq-ekfFGtYQ'))
    const refused = (name: RegExp) => (error: unknown) => error instanceof TreeFileError && name.test(error.message)
    await assert.rejects(
      importTree(store, parseTree(STOPPED), 1),
      refused(/^it is of cluster RIZYrj1gTMq5wBMsAkYWYg, the data directory is of cluster 3Plo/),
    )
    assert.equal(await store.exists('/brokers/topics/ib-a'), null)
    assert.throws(() => parseTree('{'), refused(/^it is not JSON/))
    assert.throws(() => parseTree('{}'), refused(/not a list/))
    assert.throws(() => parseTree('[{"path":"a","data":null}]'), refused(/node 0 has no path/))
    assert.throws(() => parseTree('[{"path":"/a"}]'), refused(/neither text nor null/))
    assert.throws(
      () => parseTree(fileOf(['/brokers/topics/t', 'x'])),
      refused(/^\/brokers\/topics\/t cannot be read: its data is not JSON/),
    )
  })

  describe('on a data directory', function () {
    this.timeout(20_000)
    const { logs, remove } = vectors.extractDatadir('main/clean')
    const options = { directories: [logs] }
    after(remove)
    /** The tree of the cluster that made the directory is not given: one like it, with the ids of its topics. */
    const tree = () => {
      const expected = vectors.json<{ clusterId: string; partitions: Record<string, { topic: string; topicId: string }> }>(
        'datadirs/main/clean.expected.json',
      )
      const plain = Object.values(expected.partitions).find(({ topic }) => topic === 'plain')!
      return fileOf(
        ['/cluster/id', JSON.stringify({ version: '1', id: expected.clusterId })],
        [
          '/brokers/topics/plain',
          JSON.stringify({ version: 3, topic_id: plain.topicId, partitions: { 0: [1], 1: [1], 2: [1] } }),
        ],
        ['/config/topics/plain', '{"version":1,"config":{"retention.ms":"1000","segment.bytes":"16384"}}'],
      )
    }

    it('needs a directory that a broker has used, and that none uses now', async () => {
      const empty = { directories: [`${logs}/../other`] }
      await assert.rejects(
        importMetadata(empty, tree()),
        (error) => error instanceof StartError && /no broker has used this directory/.test(error.message),
      )
      const running = await startBroker({ directory: logs })
      try {
        await assert.rejects(
          importMetadata(options, tree()),
          (error) => error instanceof StartError && /is in use by another broker in this process/.test(error.message),
        )
      } finally {
        await running.close()
      }
    })

    it('makes the configs of an adopted topic known to the next start, and releases it', async () => {
      const { released, newTopics } = await importMetadata(options, tree())
      assert.deepEqual([released, newTopics], [['plain'], []])
      const running = await startBroker({ directory: logs })
      const client = await RawClient.connect(running.port)
      const resources = [{ resourceType: 2, resourceName: 'plain', configurationKeys: ['retention.ms'] }]
      const { results } = await client.ask('DescribeConfigs', 4, {
        resources,
        includeSynonyms: false,
        includeDocumentation: false,
      })
      assert.deepEqual(
        results[0]?.configs.map(({ name, value }) => [name, value]),
        [['retention.ms', '1000']],
      )
      client.socket.destroy()
      await running.close()
      const exported = JSON.parse(await exportMetadata(options)) as Given[]
      assert.ok(exported.some(({ path }) => path === '/config/topics/plain'))
      assert.ok(!exported.some(({ path }) => path.startsWith('/mq')))
    })

    it('goes before the first start as well: the topics are known then, and nothing is adopted that the file names', async () => {
      for (const name of readdirSync(logs)) if (name.startsWith('mq-metadata.')) rmSync(`${logs}/${name}`)
      assert.deepEqual((await importMetadata(options, tree())).newTopics, ['plain'])
      const lines: string[] = []
      const keep = (_: object, line: string) => lines.push(line)
      const running = await startBroker({ directory: logs, log: { debug() {}, info() {}, warn: keep, error: keep } })
      await running.close()
      assert.match(lines.join('\n'), /^adopted 16 topics \(24 partitions\)/)
    })
  })
})
