// How long a JoinGroup or SyncGroup may be parked: what all frames together have told the broker about each group. The rule is Kafka's
// (GroupCoordinator of 3.9.1, and tried): a round ends when the last of those who are waited for joins, goes or is not heard of for the
// session timeout, at the latest after the longest rebalance timeout of the members; the same holds for the leader's assignment.

/** Frames by which a member says that it is there. */
const FROM_MEMBERS = new Set(['JoinGroup', 'SyncGroup', 'Heartbeat', 'OffsetCommit'])

export class Groups {
  #known = new Map()
  #sessions

  /** `sessions`: the shortest and the longest session timeout that the broker accepts; other members do not come in. */
  constructor(sessions) {
    this.#sessions = sessions
  }

  /** The broker gets to a frame now: it is sent, and those before it on its connection are answered. */
  saw(asked, now) {
    const { api, body } = asked
    if (body === undefined || !FROM_MEMBERS.has(api)) return
    const group = this.#known.get(body.groupId) ?? { sessionMs: 0, rebalanceMs: 0, joins: new Set() }
    this.#known.set(body.groupId, group)
    group.lastSeenAt = now
    if (api !== 'JoinGroup' || !this.#isAccepted(body.sessionTimeoutMs)) return
    group.joins.add(asked)
    group.sessionMs = Math.max(group.sessionMs, body.sessionTimeoutMs)
    group.rebalanceMs = Math.max(group.rebalanceMs, rebalanceTimeoutOf(asked))
  }

  /** How long the frame, sent at `began`, could be parked for, in ms, with all that was seen up to now. */
  waitMs({ body }, began) {
    const group = this.#known.get(body.groupId)
    // Who is alone waits for nobody.
    if (group === undefined || group.joins.size < 2) return 0
    return Math.min(group.rebalanceMs, Math.max(0, group.lastSeenAt - began) + group.sessionMs)
  }

  /** The broker has been asked to forget all groups. */
  clear() {
    this.#known.clear()
  }

  #isAccepted(sessionTimeoutMs) {
    const [shortest, longest] = this.#sessions
    return sessionTimeoutMs >= shortest && sessionTimeoutMs <= longest
  }
}

/** v0 has one timeout for both. */
const rebalanceTimeoutOf = ({ version, body }) => (version === 0 ? body.sessionTimeoutMs : Math.max(0, body.rebalanceTimeoutMs))
