/**
 * Asks a broker about groups in every state, with right and wrong words, and writes down what it says. The answers of Apache Kafka 3.9.1
 * to these questions are kept in `group-answers.jsonl`; `node dist/testing/group-probe.js HOST:PORT` prints those of any broker that has a
 * topic `probe` and groups of at most three members without an initial delay.
 */
import {
  type ApiName,
  type Body,
  ConsumerProtocolSubscription,
  encodeVersioned,
  errorByCode,
  type Input,
  type RequestOf,
  type ResponseOf,
} from '@mq/protocol'
import { RawClient } from './raw-client.js'

export const PROBE_TOPIC = 'probe'
/** How long to wait for an answer before it counts as parked: some time, or for a broker in this process some round trips. */
export type Patience = (ask: Ask) => Promise<void>
const someTime: Patience = () => new Promise((resolve) => setTimeout(resolve, 400))
export const someRoundTrips: Patience = async (ask) => {
  for (let i = 0; i < 10; i++) await ask('ListGroups', 0, {})
}

export type Answers = Record<string, { readonly answer: unknown; readonly after: string }>

interface Stage {
  readonly groupId: string
  /** Whom the questions are about. */
  readonly memberId: string
  readonly generationId: number
  readonly groupInstanceId: string | null
}

type Ask = <Name extends ApiName>(api: Name, version: number, body: Input<RequestOf<Name>>) => Promise<Body<ResponseOf<Name>>>

/** Connections of one case: a parked request keeps its connection busy, so each speaker has its own. */
class Connections {
  readonly #open: RawClient[] = []

  constructor(
    private readonly host: string,
    private readonly port: number,
  ) {}

  async another(): Promise<Ask> {
    const client = await RawClient.connect(this.port, this.host)
    this.#open.push(client)
    return (api, version, body) => client.ask(api, version, body)
  }

  close(): void {
    for (const { socket } of this.#open) socket.destroy()
  }
}

const subscription = encodeVersioned(ConsumerProtocolSubscription, 0, { topics: [PROBE_TOPIC] })
const range = [{ name: 'range', metadata: subscription }]
const joinOf = (groupId: string, more: object = {}) => ({
  groupId,
  sessionTimeoutMs: 10_000,
  rebalanceTimeoutMs: 30_000,
  memberId: '',
  protocolType: 'consumer',
  protocols: range,
  ...more,
})

async function joined(ask: Ask, groupId: string, groupInstanceId: string | null = null): Promise<Stage> {
  const answer = groupInstanceId
    ? await ask('JoinGroup', 5, joinOf(groupId, { groupInstanceId }))
    : await ask('JoinGroup', 3, joinOf(groupId))
  return { groupId, memberId: answer.memberId, generationId: answer.generationId, groupInstanceId }
}

async function stable(ask: Ask, groupId: string, groupInstanceId: string | null = null): Promise<Stage> {
  const stage = await joined(ask, groupId, groupInstanceId)
  const assignments = [{ memberId: stage.memberId, assignment: Buffer.from('mine') }]
  await ask('SyncGroup', 3, { ...stage, assignments })
  await commit(ask, stage, 5)
  return stage
}

const commit = (ask: Ask, { groupId, memberId, generationId, groupInstanceId }: Stage, offset: number) =>
  ask('OffsetCommit', 7, {
    groupId,
    memberId,
    groupInstanceId,
    generationIdOrMemberEpoch: generationId,
    topics: [{ name: PROBE_TOPIC, partitions: [{ partitionIndex: 0, committedOffset: offset, committedMetadata: 'm' }] }],
  })

const nobody = (groupId: string): Stage => ({ groupId, memberId: 'nobody', generationId: 0, groupInstanceId: null })

/** Every state that a group can be met in. */
const STATES: Record<string, (connections: Connections, groupId: string) => Promise<Stage>> = {
  absent: async (_connections, groupId) => nobody(groupId),
  'only offsets': async (connections, groupId) => {
    await commit(await connections.another(), { groupId, memberId: '', generationId: -1, groupInstanceId: null }, 3)
    return nobody(groupId)
  },
  'id given out': async (connections, groupId) => {
    const { memberId } = await (await connections.another())('JoinGroup', 4, joinOf(groupId))
    return { groupId, memberId, generationId: 0, groupInstanceId: null }
  },
  'PreparingRebalance, not joined': async (connections, groupId) => {
    const stage = await stable(await connections.another(), groupId)
    void (await connections.another())('JoinGroup', 3, joinOf(groupId)).catch(() => {})
    await untilState(await connections.another(), groupId, 'PreparingRebalance')
    return stage
  },
  'CompletingRebalance, leader': async (connections, groupId) => joined(await connections.another(), groupId),
  'CompletingRebalance, follower': async (connections, groupId) => {
    const leaderAsks = await connections.another()
    const leader = await stable(leaderAsks, groupId)
    const follower = joined(await connections.another(), groupId)
    await untilState(await connections.another(), groupId, 'PreparingRebalance')
    await leaderAsks('JoinGroup', 3, joinOf(groupId, { memberId: leader.memberId }))
    return follower
  },
  'Stable, leader': async (connections, groupId) => stable(await connections.another(), groupId),
  'Stable, static': async (connections, groupId) => stable(await connections.another(), groupId, 'instance'),
  Empty: async (connections, groupId) => {
    const ask = await connections.another()
    const stage = await stable(ask, groupId)
    await ask('LeaveGroup', 1, { groupId, memberId: stage.memberId })
    return stage
  },
}

const partitions = [{ partitionIndex: 0, committedOffset: 9, committedMetadata: '' }]
const topics = [{ name: PROBE_TOPIC, partitions }]

/** Every question. */
const QUESTIONS: Record<string, (ask: Ask, stage: Stage) => Promise<unknown>> = {
  'join as new, v3': (ask, { groupId }) => ask('JoinGroup', 3, joinOf(groupId)),
  'join as new, v4': (ask, { groupId }) => ask('JoinGroup', 4, joinOf(groupId)),
  'join as new, static': (ask, { groupId }) => ask('JoinGroup', 9, joinOf(groupId, { groupInstanceId: 'another' })),
  'join again': (ask, { groupId, memberId, groupInstanceId }) =>
    ask('JoinGroup', 7, joinOf(groupId, { memberId, groupInstanceId })),
  'join again, changed': (ask, { groupId, memberId }) =>
    ask('JoinGroup', 9, joinOf(groupId, { memberId, protocols: [...range, { name: 'sticky', metadata: subscription }] })),
  'join again as static': (ask, { groupId, memberId }) =>
    ask('JoinGroup', 5, joinOf(groupId, { memberId, groupInstanceId: 'x' })),
  'instance again, v9': (ask, { groupId, groupInstanceId }) => ask('JoinGroup', 9, joinOf(groupId, { groupInstanceId })),
  'instance again, v5': (ask, { groupId, groupInstanceId }) => ask('JoinGroup', 5, joinOf(groupId, { groupInstanceId })),
  'join as nobody': (ask, { groupId }) => ask('JoinGroup', 5, joinOf(groupId, { memberId: 'x' })),
  'join with another type': (ask, { groupId }) => ask('JoinGroup', 3, joinOf(groupId, { protocolType: 'connect' })),
  'join with no common protocol': (ask, { groupId }) =>
    ask('JoinGroup', 5, joinOf(groupId, { protocols: [{ name: 'other', metadata: subscription }] })),
  'join without protocols': (ask, { groupId }) => ask('JoinGroup', 5, joinOf(groupId, { protocols: [] })),
  'join without a type': (ask, { groupId }) => ask('JoinGroup', 5, joinOf(groupId, { protocolType: '' })),
  'join, session too short': (ask, { groupId }) => ask('JoinGroup', 5, joinOf(groupId, { sessionTimeoutMs: 999 })),
  'join, session too long': (ask, { groupId }) => ask('JoinGroup', 5, joinOf(groupId, { sessionTimeoutMs: 1_800_001 })),
  'join, no group name': (ask) => ask('JoinGroup', 5, joinOf('')),
  sync: (ask, stage) =>
    ask('SyncGroup', 3, { ...stage, assignments: [{ memberId: stage.memberId, assignment: Buffer.from('new') }] }),
  'sync, another generation': (ask, stage) => ask('SyncGroup', 3, { ...stage, generationId: 77 }),
  'sync as nobody': (ask, stage) => ask('SyncGroup', 3, { ...stage, memberId: 'x', groupInstanceId: null }),
  'sync as unknown instance': (ask, stage) => ask('SyncGroup', 3, { ...stage, groupInstanceId: 'x' }),
  'sync fenced': (ask, stage) => ask('SyncGroup', 3, { ...stage, memberId: 'x' }),
  'sync, another protocol': (ask, stage) => ask('SyncGroup', 5, { ...stage, protocolType: 'consumer', protocolName: 'sticky' }),
  'sync, another type': (ask, stage) => ask('SyncGroup', 5, { ...stage, protocolType: 'connect', protocolName: 'range' }),
  'sync, no protocol in v5': (ask, stage) => ask('SyncGroup', 5, { ...stage }),
  heartbeat: (ask, stage) => ask('Heartbeat', 4, { ...stage }),
  'heartbeat, another generation': (ask, stage) => ask('Heartbeat', 4, { ...stage, generationId: 77 }),
  'heartbeat as nobody': (ask, stage) => ask('Heartbeat', 2, { groupId: stage.groupId, generationId: 1, memberId: 'x' }),
  'heartbeat fenced': (ask, stage) => ask('Heartbeat', 4, { ...stage, memberId: 'x' }),
  'heartbeat as unknown instance': (ask, stage) => ask('Heartbeat', 3, { ...stage, groupInstanceId: 'x' }),
  leave: (ask, { groupId, memberId, groupInstanceId }) =>
    ask('LeaveGroup', 5, { groupId, members: [{ memberId, groupInstanceId }] }),
  'leave, v1': (ask, { groupId, memberId }) => ask('LeaveGroup', 1, { groupId, memberId }),
  'leave as nobody, v1': (ask, { groupId }) => ask('LeaveGroup', 1, { groupId, memberId: 'x' }),
  'leave, several': (ask, { groupId, memberId }) =>
    ask('LeaveGroup', 3, {
      groupId,
      members: [{ memberId: 'x' }, { memberId }, { memberId }, { memberId: '', groupInstanceId: 'y' }],
    }),
  'leave by instance': (ask, { groupId }) =>
    ask('LeaveGroup', 4, { groupId, members: [{ memberId: '', groupInstanceId: 'instance' }] }),
  'leave fenced': (ask, { groupId }) =>
    ask('LeaveGroup', 4, { groupId, members: [{ memberId: 'x', groupInstanceId: 'instance' }] }),
  'leave, none named': (ask, { groupId }) => ask('LeaveGroup', 4, { groupId, members: [] }),
  'leave, one without any name': (ask, { groupId }) => ask('LeaveGroup', 4, { groupId, members: [{ memberId: '' }] }),
  commit: (ask, stage) => commit(ask, stage, 9),
  'commit, another generation': (ask, stage) => commit(ask, { ...stage, generationId: 77 }, 9),
  'commit as nobody': (ask, stage) => commit(ask, { ...stage, memberId: 'x', groupInstanceId: null }, 9),
  'commit fenced': (ask, stage) => commit(ask, { ...stage, memberId: 'x' }, 9),
  'commit as unknown instance': (ask, stage) => commit(ask, { ...stage, groupInstanceId: 'x' }, 9),
  'commit without a generation': (ask, { groupId }) => ask('OffsetCommit', 5, { groupId, topics }),
  'commit as member without a generation': (ask, { groupId, memberId }) => ask('OffsetCommit', 5, { groupId, memberId, topics }),
  'commit, generation but no member': (ask, { groupId }) =>
    ask('OffsetCommit', 5, { groupId, generationIdOrMemberEpoch: 1, topics }),
  'commit v1': (ask, { groupId }) => ask('OffsetCommit', 1, { groupId, topics }),
  'commit, odd partitions': (ask, { groupId }) =>
    ask('OffsetCommit', 6, {
      groupId,
      topics: [
        {
          name: PROBE_TOPIC,
          partitions: [
            { partitionIndex: 99, committedOffset: 1 },
            { partitionIndex: -1, committedOffset: 1 },
            { partitionIndex: 1, committedOffset: -7, committedLeaderEpoch: 12 },
            { partitionIndex: 2, committedOffset: 1, committedMetadata: 'x'.repeat(4097) },
          ],
        },
        { name: 'no such topic', partitions: [{ partitionIndex: 0, committedOffset: 1 }] },
      ],
    }),
  'fetch all': (ask, { groupId }) => ask('OffsetFetch', 7, { groupId, topics: null, requireStable: true }),
  'fetch some': (ask, { groupId }) =>
    ask('OffsetFetch', 8, {
      groups: [
        {
          groupId,
          topics: [
            { name: PROBE_TOPIC, partitionIndexes: [0, 1, 99] },
            { name: 'no such topic', partitionIndexes: [0] },
          ],
        },
        { groupId: 'no such group', topics: null },
      ],
    }),
  'fetch some, v1': (ask, { groupId }) =>
    ask('OffsetFetch', 1, { groupId, topics: [{ name: PROBE_TOPIC, partitionIndexes: [0, 1] }] }),
  describe: (ask, { groupId }) => ask('DescribeGroups', 5, { groups: [groupId], includeAuthorizedOperations: true }),
  list: async (ask, { groupId }) => (await ask('ListGroups', 5, {})).groups.filter((group) => group.groupId === groupId),
  'list the stable': async (ask, { groupId }) =>
    (await ask('ListGroups', 5, { statesFilter: ['sTaBle'], typesFilter: ['CLASSIC'] })).groups.filter(
      (group) => group.groupId === groupId,
    ),
  'list other types': async (ask, { groupId }) =>
    (await ask('ListGroups', 5, { typesFilter: ['consumer'] })).groups.filter((group) => group.groupId === groupId),
  'delete the group': (ask, { groupId }) => ask('DeleteGroups', 2, { groupsNames: [groupId] }),
  'delete its offsets': (ask, { groupId }) =>
    ask('OffsetDelete', 0, {
      groupId,
      topics: [
        { name: PROBE_TOPIC, partitions: [{ partitionIndex: 0 }, { partitionIndex: 99 }] },
        { name: 'no such topic', partitions: [{ partitionIndex: 0 }] },
      ],
    }),
  'delete no offsets': (ask, { groupId }) => ask('OffsetDelete', 0, { groupId, topics: [] }),
}

async function untilState(ask: Ask, groupId: string, state: string): Promise<void> {
  for (;;) {
    const { groups } = await ask('DescribeGroups', 0, { groups: [groupId] })
    if (groups[0]!.groupState === state) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** @param run makes the names of groups unique, if the broker has been asked before */
export async function probeGroups(host: string, port: number, run = '', patience: Patience = someTime): Promise<Answers> {
  const answers: Answers = {}
  let count = 0
  const finder = new Connections(host, port)
  await findCoordinator(await finder.another())
  finder.close()
  for (const [state, prepare] of Object.entries(STATES)) {
    for (const [question, ask] of Object.entries(QUESTIONS)) {
      if (question.startsWith('instance') && state !== 'Stable, static') continue
      const groupId = `probe-${run}${count++}`
      const connections = new Connections(host, port)
      try {
        const stage = await prepare(connections, groupId)
        const questioner = await connections.another()
        const bystander = await connections.another()
        const answer = await Promise.race([
          ask(questioner, stage).catch((error: Error) => `failed: ${error.message}`),
          patience(bystander).then(() => 'parked'),
        ])
        const { groups } = await (await connections.another())('DescribeGroups', 5, { groups: [groupId] })
        const { groupState, members } = groups[0]!
        const names = namesIn(stage, groupId)
        const after = [groupState, ...members.map(({ memberId }) => names(memberId)).sort()].join(' ')
        answers[`${state}: ${question}`] = { answer: tidy(answer, names), after }
      } finally {
        connections.close()
      }
    }
  }
  return answers
}

async function findCoordinator(ask: Ask): Promise<void> {
  for (;;) {
    const { errorCode } = await ask('FindCoordinator', 1, { key: 'probe' })
    if (errorCode === 0) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  for (;;) {
    const { groups } = await ask('DescribeGroups', 0, { groups: ['probe-0', 'probe-1', 'probe-2', 'probe-3', 'probe-4'] })
    if (groups.every(({ errorCode }) => errorCode === 0)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Member ids are random: they become M, for whom the question is about, and N for others. */
function namesIn(stage: Stage, groupId: string): (text: string) => string {
  const uuid = /(?:[a-z]+)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
  return (text) =>
    text.replaceAll(groupId, 'GROUP').replace(uuid, (id) => (id === stage.memberId ? 'M' : `${id.slice(0, -37)}-N`))
}

/** Names of errors instead of codes, text instead of bytes, and nothing that depends on time or place. */
function tidy(value: unknown, names: (text: string) => string): unknown {
  if (typeof value === 'string') return names(value)
  if (Buffer.isBuffer(value)) return value.equals(subscription) ? 'SUBSCRIPTION' : value.toString()
  if (Array.isArray(value))
    return value.map((one) => tidy(one, names)).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => name !== 'throttleTimeMs' && name !== 'unknownTaggedFields')
  return Object.fromEntries(
    entries.map(([name, one]) => (name === 'errorCode' ? ['error', errorByCode(one as number)] : [name, tidy(one, names)])),
  )
}

if (require.main === module) {
  const [host = '', port = ''] = (process.argv[2] ?? '').split(':')
  void probeGroups(host, Number(port), `${process.pid}-`).then((answers) => {
    for (const entry of Object.entries(answers)) process.stdout.write(`${JSON.stringify(entry)}\n`)
  })
}
