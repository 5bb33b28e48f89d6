/**
 * Which fetch sessions are kept. A newcomer takes the place of one that went stale, else of a less valuable one: a consumer's
 * before a follower's, few partitions before many; and nobody loses a young session to an equal.
 */
import type { FetchSession } from './fetch-sessions.js'

export interface Newcomer {
  readonly privileged: boolean
  readonly size: number
}

interface Ranked {
  readonly session: FetchSession
  /** Decided when it was last used, as Kafka does. */
  losesToAll: boolean
  losesToPrivileged: boolean
}

export class RankedSessions {
  readonly #evictionMs: number
  /** Least recently used first. */
  readonly #byUse = new Map<number, Ranked>()
  #partitionCount = 0

  constructor(evictionMs: number) {
    this.#evictionMs = evictionMs
  }

  get size(): number {
    return this.#byUse.size
  }
  get partitionCount(): number {
    return this.#partitionCount
  }

  get(id: number): FetchSession | undefined {
    return this.#byUse.get(id)?.session
  }

  add(session: FetchSession): void {
    this.#byUse.set(session.id, { session, losesToAll: false, losesToPrivileged: false })
  }

  /** It was used now, and may have another size. */
  touch(session: FetchSession, now: number): void {
    const ranked = this.#byUse.get(session.id)
    if (ranked === undefined) return
    this.#byUse.delete(session.id)
    this.#byUse.set(session.id, ranked)
    session.lastUsedMs = now
    this.#partitionCount += session.partitions.size - session.countedSize
    session.countedSize = session.partitions.size
    ranked.losesToAll = now - session.createdMs > this.#evictionMs
    ranked.losesToPrivileged = ranked.losesToAll || !session.privileged
  }

  remove(session: FetchSession): void {
    if (this.#byUse.delete(session.id)) this.#partitionCount -= session.countedSize
  }

  /** Makes a place for the newcomer if it may have one. */
  evictFor(newcomer: Newcomer, now: number): boolean {
    const oldest = this.#byUse.values().next().value
    if (oldest === undefined) return false
    if (now - oldest.session.lastUsedMs > this.#evictionMs) {
      this.remove(oldest.session)
      return true
    }
    let least: FetchSession | undefined
    for (const ranked of this.#byUse.values()) {
      const evictable = newcomer.privileged ? ranked.losesToPrivileged : ranked.losesToAll
      if (evictable && (least === undefined || compare(ranked.session, least) < 0)) least = ranked.session
    }
    if (least === undefined || isWorthLess(newcomer, least)) return false
    this.remove(least)
    return true
  }
}

/** Consumers before followers, small before large, then by id: Kafka's order of eviction. */
function compare(a: FetchSession, b: FetchSession): number {
  if (a.privileged !== b.privileged) return a.privileged ? 1 : -1
  return a.countedSize - b.countedSize || a.id - b.id
}

/** Equal is not enough: the newcomer compares with an id below every other. */
function isWorthLess(newcomer: Newcomer, session: FetchSession): boolean {
  if (newcomer.privileged !== session.privileged) return session.privileged
  return newcomer.size <= session.countedSize
}
