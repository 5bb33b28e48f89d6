// Sends mutated frames over many connections at once and holds the broker to what it owes (expected.mjs).
import { apiByKey } from '@mq/protocol'
import { framesIn, readAnswer } from './expected.mjs'
import { Groups } from './groups.mjs'
import { mutated } from './mutations.mjs'
import { Random } from './random.mjs'
import { RawConnection } from './raw-connection.mjs'
import { Starvation } from './starvation.mjs'

/** Each whole frame is answered or its connection closed within this. */
const ANSWER_MS = 1000
/** A request that waits by its own fields loses its client after this, or, one in FULL_WAITS, is waited for if its limit is bearable. */
const GONE_AFTER_MS = 40
const FULL_WAITS = 40
const BEARABLE_MS = 2000
/** These wait for something that others do; the rest that has a time limit waits for work of the broker's own. */
const OF_GROUPS = ['JoinGroup', 'SyncGroup']
const OPEN_ENDED = ['Fetch', ...OF_GROUPS]
const LANES = 32
/**
 * What the controller does one after the other, each with writes that must be on disk. Lanes do not wait for one another, so all of them would
 * end up in that queue, and be late: no more than these at a time, and only some of the frames that ask for it.
 */
const OF_THE_CONTROLLER = new Set(['CreateTopics', 'DeleteTopics', 'CreatePartitions', 'AlterConfigs', 'IncrementalAlterConfigs'])
const CONTROLLER_AT_ONCE = 3
const ONE_IN = 5
/** Above the limit, so that what is late can be told from what never comes. */
const NEVER_MS = 10_000

export class Sender {
  #port
  #seed
  #live
  failures = []
  counts = { frames: 0, answered: 0, closed: 0, silent: 0, gone: 0, incomplete: 0, waited: 0, late: 0 }
  /** API and version → answers. */
  answered = new Map()
  /** Fetch sessions that answers have named. */
  sessions = new Set()
  /** Ids of members that answers have named, by group. */
  members = new Map()
  groups
  longestMs = 0
  lateOnes = []
  #starvation
  #neverMs
  #atController = 0
  #queue = []

  /**
   * `pid` is the broker's; `live`: `{ strings, ids }`, what it knows now; answers add to it. `sessions`: the session timeouts that it accepts,
   * Kafka's own if nobody set others.
   */
  constructor({ port, pid, seed, live, neverMs = NEVER_MS, sessions = [6000, 1_800_000] }) {
    this.groups = new Groups(sessions)
    this.#neverMs = neverMs
    this.#starvation = new Starvation([pid, process.pid])
    this.#port = port
    this.#seed = seed
    this.#live = live
  }

  stop() {
    this.#starvation.stop()
  }

  /** Sends frames `from` to `to` − 1, each made from its number and the seed; `frames` are what they start from. */
  async send(from, to, frames) {
    let next = from
    const lane = async (number) => {
      let connection
      while (next < to && this.failures.length < 20) {
        const index = next++
        const random = new Random(this.#seed, index)
        let origin = random.pick(frames)
        while (OF_THE_CONTROLLER.has(apiOf(origin.frame)) && !random.once(ONE_IN)) origin = random.pick(frames)
        const { bytes, what } = mutated(origin.frame, random, this.#live)
        if (connection === undefined || connection.isClosed)
          connection = await RawConnection.open(this.#port, sourceOf(number, index))
        const outcome = await this.#inTurn(bytes, () => this.#exchange(connection, bytes, random))
        this.counts.frames++
        if (outcome.failure !== undefined) {
          this.failures.push(
            `frame ${index} of seed ${this.#seed} (${origin.origin}, ${what}): ${outcome.failure}\n    ${bytes.toString('hex').slice(0, 600)}`,
          )
        }
        if (outcome.isOver) connection.drop()
      }
      connection?.drop()
    }
    await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
  }

  /** Runs at once, or when the controller has less to do. */
  async #inTurn(bytes, run) {
    if (bytes.length < 8 || !OF_THE_CONTROLLER.has(apiOf(bytes.subarray(4)))) return run()
    while (this.#atController >= CONTROLLER_AT_ONCE) await new Promise((done) => this.#queue.push(done))
    this.#atController++
    try {
      return await run()
    } finally {
      this.#atController--
      this.#queue.shift()?.()
    }
  }

  async #exchange(connection, bytes, random) {
    const { frames, isIncomplete } = framesIn(bytes)
    connection.write(bytes)
    for (const asked of frames) {
      const outcome = await this.#await(connection, asked, random)
      if (outcome !== 'answered') return outcome
    }
    if (isIncomplete) this.counts.incomplete++
    return { isOver: isIncomplete || this.#owedNothing(frames) }
  }

  /** Whether the last frame may close the connection or not, which nobody tells: the next frame starts on a new one. */
  #owedNothing(frames) {
    return frames.at(-1)?.owes === 'nothing or a close'
  }

  async #await(connection, asked, random) {
    if (asked.owes === 'nothing or a close') {
      this.counts.silent++
      return 'answered'
    }
    const began = performance.now()
    this.groups.saw(asked, began)
    const isOfGroup = asked.body !== undefined && OF_GROUPS.includes(asked.api)
    // What others tell the group meanwhile may make it longer.
    const waitMs = () => (isOfGroup ? this.groups.waitMs(asked, began) : asked.waitMs)
    const expectedMs = waitMs()
    const waits = expectedMs > 0 && OPEN_ENDED.includes(asked.api)
    const isFullWait = waits && expectedMs <= BEARABLE_MS && random.once(FULL_WAITS)
    const answer = await connection.next(waits && !isFullWait ? GONE_AFTER_MS : Math.min(expectedMs, BEARABLE_MS) + this.#neverMs)
    const ms = performance.now() - began
    if (answer === 'silent') {
      // Others, who come and are not heard of again, may keep a group waiting for longer than is worth to wait here.
      const isKeptWaiting = isOfGroup && ms < waitMs() + ANSWER_MS
      if ((waits && !isFullWait) || isKeptWaiting) {
        this.counts.gone++
        return { isOver: true }
      }
      return {
        isOver: true,
        failure: `${asked.api} v${asked.version} got neither an answer nor a close within ${Math.round(ms)} ms`,
      }
    }
    if (isFullWait) this.counts.waited++
    this.longestMs = Math.max(this.longestMs, ms - (isFullWait ? waitMs() : 0))
    // Who asks something of the controller waits for those before him, each with a time limit of its own.
    const limitMs = OF_THE_CONTROLLER.has(asked.api) ? NEVER_MS : waitMs() + ANSWER_MS
    if (ms > limitMs && ms - this.#starvation.msSince(began) > limitMs) {
      this.counts.late++
      if (this.lateOnes.length < 40)
        this.lateOnes.push(
          `${Math.round(began)} ${asked.api} v${asked.version} ${Math.round(ms)} ms ${JSON.stringify(asked.body ?? null).slice(0, 200)}`,
        )
    }
    if (answer === 'closed') {
      this.counts.closed++
      return { isOver: true }
    }
    if (asked.owes === 'a close') return { isOver: true, failure: 'what is no frame got an answer' }
    try {
      this.#learn(asked, readAnswer(asked, answer))
    } catch (error) {
      return { isOver: true, failure: `${asked.api} v${asked.version}: ${error.message}` }
    }
    this.counts.answered++
    const name = `${asked.api} v${asked.version}`
    this.answered.set(name, (this.answered.get(name) ?? 0) + 1)
    return 'answered'
  }

  /** Ids that the broker has given out lead further than those of another day. */
  #learn({ api, body: request }, body) {
    if (api === 'Fetch' && body.sessionId > 0) this.sessions.add(body.sessionId)
    if (api === 'JoinGroup' && body.memberId !== '') {
      this.#remember(this.#live.strings, body.memberId)
      const known = this.members.get(request.groupId) ?? new Set()
      this.members.set(request.groupId, known.add(body.memberId))
    }
    if (api === 'CreateTopics')
      for (const { topicId } of body.topics) if (topicId !== undefined) this.#remember(this.#live.ids, topicId)
  }

  #remember(list, value) {
    list.push(value)
    if (list.length > 60) list.splice(20, 1)
  }
}

/** Closed connections leave their port in TIME_WAIT: Linux has all of 127/8 to spread them over. */
const sourceOf = (lane, index) => (process.platform === 'linux' ? `127.0.0.${1 + ((lane * 7 + index) % 60)}` : undefined)

const apiOf = (frame) => apiByKey(frame.readInt16BE(0))?.name
