// The topics that frames are aimed at, and what must be gone before the broker's memory is measured: topics, groups, members, sessions.

const PARTITIONS = 3
const ASK_MS = 60_000
/** Longer than the longest session that the fuzzed broker allows. */
const SETTLE_MS = 20_000

/** Each stands for another way through the log. */
export const TOPICS = {
  plain: {},
  compacted: { 'cleanup.policy': 'compact' },
  stamped: { 'message.timestamp.type': 'LogAppendTime' },
  recompressed: { 'compression.type': 'zstd' },
  small: { 'max.message.bytes': '300' },
  rolled: { 'segment.bytes': '2000', 'segment.index.bytes': '100' },
}

/** Makes them and returns their ids, in order. */
export async function makeTopics(connection) {
  const topics = Object.entries(TOPICS).map(([name, configs]) => ({
    name,
    numPartitions: PARTITIONS,
    replicationFactor: 1,
    configs: Object.entries({ 'retention.ms': '-1', ...configs }).map(([config, value]) => ({ name: config, value })),
  }))
  const made = await connection.ask('CreateTopics', 7, { topics, timeoutMs: ASK_MS }, ASK_MS)
  const failed = made.topics.find(({ errorCode }) => errorCode !== 0)
  if (failed !== undefined) throw new Error(`topic ${failed.name}: error ${failed.errorCode} ${failed.errorMessage}`)
  return made.topics.map(({ topicId }) => topicId)
}

/**
 * Deletes all topics but those in `keep`, all groups with their members, and the given fetch sessions. `members` are those that the broker
 * has named, by group: who was only told its id is in no description of its group, which waits for it all the same. Returns what it found.
 */
export async function cleanUp(connection, keep, { sessions, members }) {
  for (const [sessionId, sessionEpoch] of [...sessions].map((id) => [id, -1])) {
    await connection.ask(
      'Fetch',
      11,
      { replicaId: -1, maxWaitMs: 0, minBytes: 0, maxBytes: 1000, sessionId, sessionEpoch, topics: [] },
      ASK_MS,
    )
  }
  for (const [groupId, ids] of members) {
    const leaving = [...ids].map((memberId) => ({ memberId, groupInstanceId: null }))
    await connection.ask('LeaveGroup', 4, { groupId, members: leaving }, ASK_MS)
  }
  const groups = await deleteGroups(connection)
  const { topics } = await connection.ask('Metadata', 9, { topics: null }, ASK_MS)
  const names = topics.map(({ name }) => name).filter((name) => !keep.includes(name))
  const { responses } = await connection.ask('DeleteTopics', 5, { topicNames: names, timeoutMs: ASK_MS }, ASK_MS)
  const failed = responses.find(({ errorCode }) => errorCode !== 0)
  if (failed !== undefined) throw new Error(`topic ${failed.name} cannot be deleted: ${failed.errorCode}`)
  return { topics: names.length, groups, sessions: sessions.size }
}

async function deleteGroups(connection) {
  let found = 0
  for (const deadline = Date.now() + SETTLE_MS; ; ) {
    const { groups } = await connection.ask('ListGroups', 2, {}, ASK_MS)
    if (groups.length === 0) return found
    found = Math.max(found, groups.length)
    const names = groups.map(({ groupId }) => groupId)
    const described = await connection.ask('DescribeGroups', 4, { groups: names }, ASK_MS)
    for (const { groupId, members } of described.groups) {
      if (members.length === 0) continue
      const leaving = members.map(({ memberId }) => ({ memberId, groupInstanceId: null }))
      await connection.ask('LeaveGroup', 4, { groupId, members: leaving }, ASK_MS)
    }
    const { results } = await connection.ask('DeleteGroups', 1, { groupsNames: names }, ASK_MS)
    const left = results.filter(({ errorCode }) => errorCode !== 0)
    if (left.length === 0) continue
    await new Promise((done) => setTimeout(done, 100))
    if (Date.now() > deadline) {
      throw new Error(
        `groups that cannot be deleted: ${left.map(({ groupId, errorCode }) => `${JSON.stringify(groupId)} ${errorCode}`).join(', ')}`,
      )
    }
  }
}
