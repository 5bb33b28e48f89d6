import assert from 'node:assert/strict'
import { vectors } from '../../../../conformance/index.js'
import { ZnodeError } from './znode-json.js'
import { DEFAULT_ENTITY, PERSISTENT_PATHS, rowOf, sanitize, ZNODES } from './znodes.js'

interface GivenNode {
  readonly path: string
  readonly data: string | null
  readonly ephemeral: boolean
}

const trees = vectors.files('znodes').filter((file) => file.endsWith('.json'))

describe('the table of znodes', () => {
  for (const file of trees) {
    const nodes = vectors.json<GivenNode[]>(file).filter(({ path }) => path !== '/' && !path.startsWith('/zookeeper'))

    it(`reads and writes every node of ${file}`, () => {
      assert.ok(nodes.length > 20)
      for (const { path, data, ephemeral } of nodes) {
        const found = rowOf(path)
        assert.ok(found !== undefined, `no row for ${path}`)
        assert.equal((found.row.path as (...keys: string[]) => string)(...found.keys), path)
        assert.equal(found.row.ephemeral, ephemeral, path)
        const value = found.row.decode(data === null ? null : Buffer.from(data), path)
        const written = found.row.encode(value)?.toString() ?? null
        if (written !== data) {
          // Kafka's own order of more than four partitions is that of a hash map: equal as JSON then
          assert.match(path, /^\/brokers\/topics\/[^/]+$|^\/config\/users\//)
          assert.deepEqual(JSON.parse(written ?? ''), JSON.parse(data ?? ''), path)
        }
      }
    })
  }

  it('makes at a start the folders that a fresh broker of 3.9.1 has', () => {
    const fresh = vectors.json<GivenNode[]>('znodes/one-broker-fresh.json').filter(({ path }) => !path.startsWith('/zookeeper'))
    const made = fresh.filter(({ path, data }) => data === null && path !== '/').map(({ path }) => path)
    assert.deepEqual([...PERSISTENT_PATHS].sort(), made.sort())
    for (const [at, path] of PERSISTENT_PATHS.entries()) {
      const parent = path.slice(0, path.lastIndexOf('/'))
      assert.ok(parent === '' || PERSISTENT_PATHS.indexOf(parent) < at, `${path} before its parent`)
    }
  })

  it('reads a registration of IPv6 listeners, of older versions, and without a plain listener', () => {
    const endpoints = [{ listenerName: 'IN', securityProtocol: 'SSL', host: '::1', port: 9093 }]
    const written = ZNODES.broker.encode({ endpoints, rack: 'r1', timestamp: 1, jmxPort: -1, features: {} })
    assert.deepEqual(JSON.parse(written?.toString() ?? '').endpoints, ['IN://[::1]:9093'])
    assert.deepEqual(ZNODES.broker.decode(written, '/brokers/ids/1').endpoints, endpoints)
    const first = Buffer.from('{"version":1,"host":"localhost","port":9092,"jmx_port":9999,"timestamp":"2233345666"}')
    assert.deepEqual(ZNODES.broker.decode(first, '/brokers/ids/1').endpoints, [
      { listenerName: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: 'localhost', port: 9092 },
    ])
  })

  it('reads topics of versions 1 and 2, and a recovering partition', () => {
    const old = ZNODES.topic.decode(Buffer.from('{"version":1,"partitions":{"1":[2],"0":[1]}}'), '/brokers/topics/t')
    assert.deepEqual(old, {
      topicId: null,
      partitions: new Map([
        [0, [1]],
        [1, [2]],
      ]),
      addingReplicas: new Map(),
      removingReplicas: new Map(),
    })
    const state = { controllerEpoch: 1, leader: 2, leaderEpoch: 3, isr: [2], isRecovering: true }
    assert.deepEqual(ZNODES.partitionState.decode(ZNODES.partitionState.encode(state), ''), state)
  })

  it('reads and writes the nodes that no given tree has', () => {
    const partitions = [{ topic: 't', partition: 3 }]
    assert.deepEqual(ZNODES.isrChange.decode(ZNODES.isrChange.encode(partitions), ''), partitions)
    assert.equal(ZNODES.isrChange.encode(partitions)?.toString(), '{"version":1,"partitions":[{"topic":"t","partition":3}]}')
    assert.equal(ZNODES.logDirEvent.encode({ broker: 4 })?.toString(), '{"version":1,"broker":4,"event":1}')
    assert.equal(ZNODES.consumerOffset.path('g', 't', 0), '/consumers/g/offsets/t/0')
    assert.equal(ZNODES.consumerOffset.decode(ZNODES.consumerOffset.encode(42), ''), 42)
    const change = '{"version":1,"entity_type":"topics","entity_name":"t"}'
    assert.deepEqual(ZNODES.configChange.decode(Buffer.from(change), ''), { entityPath: 'topics/t' })
  })

  it('names the node and the field when the data is not what Kafka writes', () => {
    const wrong: [string, () => unknown][] = [
      ['/brokers/topics/t cannot be read: its data is not JSON', () => ZNODES.topic.decode(null, '/brokers/topics/t')],
      [
        '/x cannot be read: leader is missing, it should be an integer',
        () => ZNODES.partitionState.decode(Buffer.from('{"controller_epoch":1}'), '/x'),
      ],
      ['/x cannot be read: partitions is not an object', () => ZNODES.topic.decode(Buffer.from('{"partitions":[]}'), '/x')],
      ['/x cannot be read: -1 is no partition', () => ZNODES.topic.decode(Buffer.from('{"partitions":{"-1":[1]}}'), '/x')],
      [
        '/controller_epoch cannot be read: it is not a number',
        () => ZNODES.controllerEpoch.decode(Buffer.from('1x'), '/controller_epoch'),
      ],
    ]
    for (const [message, decode] of wrong)
      assert.throws(decode, (error) => error instanceof ZnodeError && error.message === message)
  })

  it('writes names into paths as Kafka does', () => {
    assert.equal(sanitize("CN=x, O=y*~!'()-_.é"), 'CN%3Dx%2C%20O%3Dy%2A%7E%21%27%28%29-_.%C3%A9')
    assert.equal(ZNODES.entityConfig.path('users', DEFAULT_ENTITY), '/config/users/<default>')
  })
})
