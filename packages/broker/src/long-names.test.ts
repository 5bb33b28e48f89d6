/**
 * Strings as long as the wire allows, in every place of every request: each version of each API gives an answer that can be written, however
 * many of these strings it repeats.
 */
import assert from 'node:assert/strict'
import { APIS, type ApiName, errorByCode, type Input, type RequestOf, type SchemaField } from '@mq/protocol'
import { HANDLERS } from './handlers/index.js'
import { type RunningBroker, startBroker } from './start-broker.js'
import { RawClient } from './testing/raw-client.js'

const LONG = {
  'of letters': 'x'.repeat(32_700),
  'of bytes that are three to a character': '€'.repeat(10_900),
  'of what no name may hold': '/'.repeat(32_700),
} as const
/** What all numbers of a request are: kinds of resources, of coordinators and of operations are among them; none makes a request wait. */
const NUMBERS = [-1, 0, 1, 2, 4, 8, 16]

/** A body with every field that the version has: one item in each list, this text, this number. */
function filled(
  fields: Readonly<Record<string, SchemaField>>,
  version: number,
  text: string,
  number: number,
): Record<string, unknown> {
  const valueFor = (field: SchemaField): unknown => {
    switch (field.kind) {
      case 'string':
        return text
      case 'bool':
        return number % 2 === 0
      case 'bytes':
      case 'records':
        return Buffer.alloc(0)
      case 'uuid':
        return undefined
      case 'struct':
        return filled(field.fields, version, text, number)
      case 'array':
        if (typeof field.item !== 'string') return [filled(field.item, version, text, number)]
        return field.item === 'uuid' ? [] : [field.item === 'string' ? text : number]
      default:
        return number
    }
  }
  const present = Object.entries(fields).filter(([, { versions }]) => has(versions, version))
  return Object.fromEntries(present.map(([name, field]) => [name, valueFor(field)]))
}

/** Whether versions in the notation of schemas, `1+`, `0-3`, `2`, hold this one. */
function has(versions: string, version: number): boolean {
  const [from = '', to] = versions.replace('+', '-32767').split('-')
  return versions !== 'none' && version >= Number(from) && version <= Number(to ?? from)
}

describe('Names of 32,700 bytes', () => {
  let broker: RunningBroker
  let client: RawClient

  before(async () => {
    broker = await startBroker({ configs: { 'connections.max.idle.ms': 600_000, 'group.initial.rebalance.delay.ms': 0 } })
    const client = await RawClient.connect(broker.port)
    await client.ask('CreateTopics', 5, { topics: [{ name: 'known', numPartitions: 1, replicationFactor: 1 }], timeoutMs: 5000 })
    client.end()
  })
  after(() => broker.close())
  beforeEach(async () => {
    client = await RawClient.connect(broker.port)
  })
  afterEach(() => client.end())

  for (const [what, text] of Object.entries(LONG)) {
    for (const { api, minVersion, maxVersion } of HANDLERS) {
      it(`${what}: ${api} answers`, async () => {
        for (let version = minVersion; version <= maxVersion; version++) {
          for (const number of NUMBERS) {
            // Nobody answers a produce that asks for no answer.
            if (api === 'Produce' && number === 0) continue
            const body = filled(APIS[api].request.fields, version, text, number)
            await client.ask(api, version, body as Input<RequestOf<ApiName>>)
          }
        }
      })
    }

    it(`${what}: a group of that name with such a member is served, described, listed and deleted`, async () => {
      const join = (memberId: string) =>
        client.ask('JoinGroup', 9, {
          groupId: text,
          sessionTimeoutMs: 10_000,
          rebalanceTimeoutMs: 10_000,
          memberId,
          groupInstanceId: text,
          protocolType: text,
          protocols: [{ name: text, metadata: Buffer.alloc(10) }],
          reason: text,
        })
      await client.ask('FindCoordinator', 4, { keyType: 0, coordinatorKeys: [text] })
      const { memberId, generationId, errorCode } = await join('')
      assert.equal(errorCode, 0)
      const member = { groupId: text, memberId, groupInstanceId: text }
      const assignments = [{ memberId, assignment: Buffer.alloc(10) }]
      const synced = await client.ask('SyncGroup', 5, {
        ...member,
        generationId,
        protocolType: text,
        protocolName: text,
        assignments,
      })
      assert.equal(synced.errorCode, 0)
      const partitions = [{ partitionIndex: 0, committedOffset: 5, committedMetadata: text }]
      const commit = { ...member, generationIdOrMemberEpoch: generationId, topics: [{ name: 'known', partitions }] }
      const { topics } = await client.ask('OffsetCommit', 8, commit)
      assert.equal(errorByCode(topics[0]!.partitions[0]!.errorCode), 'OFFSET_METADATA_TOO_LARGE')
      const { groups } = await client.ask('DescribeGroups', 5, { groups: [text] })
      assert.equal(groups[0]!.members[0]!.memberId, memberId)
      const listed = await client.ask('ListGroups', 5, {})
      assert.ok(listed.groups.some(({ groupId }) => groupId === text))
      await client.ask('LeaveGroup', 5, { groupId: text, members: [{ memberId, groupInstanceId: text, reason: text }] })
      const { results } = await client.ask('DeleteGroups', 2, { groupsNames: [text] })
      assert.equal(results[0]!.errorCode, 0)
    })
  }

  it('a config that grows by appending stays one that can be described', async () => {
    const append = async (copy: number) => {
      const value = Array.from({ length: 3000 }, (_, at) => `${at}:${copy}`).join(',')
      const change = { name: 'leader.replication.throttled.replicas', configOperation: 2, value }
      const { responses } = await client.ask('IncrementalAlterConfigs', 1, {
        resources: [{ resourceType: 2, resourceName: 'known', configs: [change] }],
      })
      return errorByCode(responses[0]!.errorCode)
    }
    assert.deepEqual([await append(1), await append(2)], ['NONE', 'INVALID_CONFIG'])
    for (let version = 0; version <= 4; version++) {
      const { results } = await client.ask('DescribeConfigs', version, {
        resources: [{ resourceType: 2, resourceName: 'known', configurationKeys: null }],
        includeSynonyms: version > 0,
      })
      assert.equal(results[0]!.errorCode, 0)
    }
  })
})
