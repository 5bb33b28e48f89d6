/**
 * Fetch sessions (KIP-227): a client names its partitions once, later requests carry only changes and answers only news. The
 * cache is bounded; who gets a place and who loses it follows Kafka's rules, so that busy consumers keep theirs.
 */
import { RankedSessions } from './fetch-session-ranking.js'

/** In a request: make a session. */
const INITIAL_EPOCH = 0
/** In a request: no session, and close the one that is named. Requests before v7 mean it too. */
const FINAL_EPOCH = -1
/** No session. */
export const NO_SESSION = 0
/** A session that was not used, or that is not older, than this is safe from smaller ones (Kafka: two minutes). */
const EVICTION_MS = 120_000
/** Partitions in all sessions together; a session beyond it is not kept. Kafka has no such bound. */
const PARTITIONS_LIMIT = 2_000_000

/** A partition that a fetch asks for. */
export interface WantedPartition {
  /** Null while the id is not known here. */
  readonly topic: string | null
  /** The zero id in requests before v13. */
  readonly topicId: string
  readonly partition: number
  readonly fetchOffset: number
  readonly maxBytes: number
  /** -1: not said. */
  readonly currentLeaderEpoch: number
  readonly lastFetchedEpoch: number
}

/** What of an answer decides whether an incremental fetch must carry it. */
export interface PartitionNews {
  readonly errorCode: number
  readonly highWatermark: number
  readonly logStartOffset: number
  readonly recordBytes: number
  readonly diverges: boolean
}

export interface ForgottenPartition {
  readonly topic: string
  readonly topicId: string
  readonly partition: number
}

export interface FetchOpening {
  readonly sessionId: number
  readonly sessionEpoch: number
  readonly usesTopicIds: boolean
  /** A follower's session; it may take the place of any consumer's. */
  readonly isFromFollower: boolean
  /** In the order of the request; of a partition that stands twice the last one counts. */
  readonly wanted: readonly WantedPartition[]
  readonly forgotten: readonly ForgottenPartition[]
  /** The name that an id has now. */
  nameOf(topicId: string): string | null
}

export type SessionError = 'FETCH_SESSION_ID_NOT_FOUND' | 'INVALID_FETCH_SESSION_EPOCH' | 'FETCH_SESSION_TOPIC_ID_ERROR'

export interface Outcome<Answer> {
  readonly error: 'NONE' | SessionError
  readonly sessionId: number
  /** Those that the response carries, in order. */
  readonly answers: readonly Answer[]
}

/** One request on its way: the whole list of partitions, and afterwards which answers go out. */
export interface FetchContext {
  readonly error: SessionError | null
  readonly partitions: readonly WantedPartition[]
  /** `answers[i]` belongs to `wanted[i]`. */
  conclude<Answer>(
    wanted: readonly WantedPartition[],
    answers: readonly Answer[],
    newsOf: (answer: Answer) => PartitionNews,
  ): Outcome<Answer>
}

export interface SessionsOptions {
  /** `max.incremental.fetch.session.cache.slots` */
  readonly slots: number
  readonly clock: { monotonic(): number }
  readonly random: { next(): number }
}

/** A partition in a session: what was asked last, and what was answered last. */
interface CachedPartition {
  wanted: WantedPartition
  /** -1 after an error, so that the recovered partition is news again. */
  highWatermark: number
  logStartOffset: number
}

export class FetchSession {
  readonly partitions = new Map<string, CachedPartition>()
  epoch = 1
  lastUsedMs: number
  /** How many partitions the ranking counts for it. */
  countedSize = 0
  constructor(
    readonly id: number,
    readonly privileged: boolean,
    readonly usesTopicIds: boolean,
    readonly createdMs: number,
  ) {
    this.lastUsedMs = createdMs
  }
}

const keyOf = (wanted: { topic: string | null; topicId: string; partition: number }, usesTopicIds: boolean): string =>
  `${usesTopicIds ? wanted.topicId : wanted.topic}/${wanted.partition}`

/** Epochs run 1, 2 … 2^31-1, 1: 0 and -1 mean something else. */
const nextEpoch = (epoch: number): number => (epoch >= 0x7fffffff ? 1 : epoch + 1)

export class FetchSessions {
  readonly #options: SessionsOptions
  readonly #ranking = new RankedSessions(EVICTION_MS)

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#ranking.size
  }
  get partitionCount(): number {
    return this.#ranking.partitionCount
  }

  open(opening: FetchOpening): FetchContext {
    const { sessionId, sessionEpoch } = opening
    if (sessionEpoch === INITIAL_EPOCH || sessionEpoch === FINAL_EPOCH) {
      if (sessionId !== NO_SESSION) this.#close(sessionId)
      const wanted = withoutRepeats(opening)
      return sessionEpoch === FINAL_EPOCH ? sessionless(wanted) : this.#full(opening, wanted)
    }
    const session = this.#ranking.get(sessionId)
    if (session === undefined) return failed('FETCH_SESSION_ID_NOT_FOUND')
    if (session.epoch !== sessionEpoch) return failed('INVALID_FETCH_SESSION_EPOCH')
    if (session.usesTopicIds !== opening.usesTopicIds) return failed('FETCH_SESSION_TOPIC_ID_ERROR')
    update(session, opening)
    if (session.partitions.size === 0) {
      this.#ranking.remove(session)
      return sessionless(withoutRepeats(opening))
    }
    if (this.#ranking.partitionCount + session.partitions.size - session.countedSize > PARTITIONS_LIMIT) {
      this.#ranking.remove(session)
      return failed('FETCH_SESSION_ID_NOT_FOUND')
    }
    this.#ranking.touch(session, this.#options.clock.monotonic())
    session.epoch = nextEpoch(session.epoch)
    return incremental(session, opening)
  }

  #close(sessionId: number): void {
    const session = this.#ranking.get(sessionId)
    if (session !== undefined) this.#ranking.remove(session)
  }

  /** Names everything; the answer carries a new session if there is a place for one. */
  #full(opening: FetchOpening, partitions: readonly WantedPartition[]): FetchContext {
    return {
      error: null,
      partitions,
      conclude: (wanted, answers, newsOf) => {
        const session = this.#create(opening, wanted.length)
        if (session !== null) {
          wanted.forEach((partition, at) => {
            const news = newsOf(answers[at]!)
            session.partitions.set(keyOf(partition, opening.usesTopicIds), {
              wanted: partition,
              highWatermark: news.highWatermark,
              logStartOffset: news.logStartOffset,
            })
          })
          this.#ranking.touch(session, this.#options.clock.monotonic())
        }
        return { error: 'NONE', sessionId: session?.id ?? NO_SESSION, answers }
      },
    }
  }

  #create(opening: FetchOpening, size: number): FetchSession | null {
    const now = this.#options.clock.monotonic()
    const { slots } = this.#options
    if (this.#ranking.partitionCount + size > PARTITIONS_LIMIT) return null
    if (this.#ranking.size >= slots && !this.#ranking.evictFor({ privileged: opening.isFromFollower, size }, now)) return null
    const session = new FetchSession(this.#newId(), opening.isFromFollower, opening.usesTopicIds, now)
    this.#ranking.add(session)
    return session
  }

  /** Positive and not in use: random, so that a client of an earlier life of the broker does not hit another's. */
  #newId(): number {
    for (;;) {
      const id = 1 + Math.floor(this.#options.random.next() * 0x7ffffffe)
      if (this.#ranking.get(id) === undefined) return id
    }
  }
}

const failed = (error: SessionError): FetchContext => ({
  error,
  partitions: [],
  conclude: () => ({ error, sessionId: NO_SESSION, answers: [] }),
})

const sessionless = (partitions: readonly WantedPartition[]): FetchContext => ({
  error: null,
  partitions,
  conclude: (_wanted, answers) => ({ error: 'NONE', sessionId: NO_SESSION, answers }),
})

function incremental(session: FetchSession, opening: FetchOpening): FetchContext {
  const expected = session.epoch
  const partitions: WantedPartition[] = []
  for (const cached of session.partitions.values()) {
    if (cached.wanted.topic === null) {
      const topic = opening.nameOf(cached.wanted.topicId)
      if (topic !== null) cached.wanted = { ...cached.wanted, topic }
    }
    partitions.push(cached.wanted)
  }
  return {
    error: null,
    partitions,
    conclude: (wanted, answers, newsOf) => {
      // The same request came again while this one waited.
      if (session.epoch !== expected) return { error: 'INVALID_FETCH_SESSION_EPOCH', sessionId: session.id, answers: [] }
      const carried = answers.filter((answer, at) => isNews(session, keyOf(wanted[at]!, session.usesTopicIds), newsOf(answer)))
      return { error: 'NONE', sessionId: session.id, answers: carried }
    },
  }
}

/** Whether the client must hear of it; remembers what it hears. What had records goes to the end, so that no partition starves. */
function isNews(session: FetchSession, key: string, news: PartitionNews): boolean {
  const cached = session.partitions.get(key)
  if (cached === undefined) return true
  let told = news.recordBytes > 0 || news.diverges
  if (cached.highWatermark !== news.highWatermark) {
    cached.highWatermark = news.highWatermark
    told = true
  }
  if (cached.logStartOffset !== news.logStartOffset) {
    cached.logStartOffset = news.logStartOffset
    told = true
  }
  if (news.errorCode !== 0) {
    cached.highWatermark = -1
    told = true
  }
  if (news.recordBytes > 0) {
    session.partitions.delete(key)
    session.partitions.set(key, cached)
  }
  return told
}

function update(session: FetchSession, opening: FetchOpening): void {
  for (const wanted of opening.wanted) {
    const key = keyOf(wanted, session.usesTopicIds)
    const cached = session.partitions.get(key)
    if (cached === undefined) session.partitions.set(key, { wanted, highWatermark: -1, logStartOffset: -1 })
    else cached.wanted = wanted
  }
  for (const forgotten of opening.forgotten) session.partitions.delete(keyOf(forgotten, session.usesTopicIds))
}

function withoutRepeats(opening: FetchOpening): readonly WantedPartition[] {
  if (opening.wanted.length <= 1) return opening.wanted
  const byKey = new Map<string, WantedPartition>()
  for (const wanted of opening.wanted) byKey.set(keyOf(wanted, opening.usesTopicIds), wanted)
  return byKey.size === opening.wanted.length ? opening.wanted : [...byKey.values()]
}
