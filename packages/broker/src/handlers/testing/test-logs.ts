/** Logs for tests, with time that the test moves and random numbers that are the same in every run. */
import { DEFAULT_TOPIC_CONFIG, LogDirectories, MemoryDisk, nodeDisk } from '@mq/log'

interface Due {
  readonly at: number
  readonly fire: () => void
}

/** The wall and the monotonic clock, and timers on the latter. Time stands still but for `advance`. */
export class TestTime {
  #monotonic = 0
  #due: Due[] = []
  readonly #start: number

  constructor(start = 1_760_000_000_000) {
    this.#start = start
  }

  now(): number {
    return this.#start + this.#monotonic
  }
  monotonic(): number {
    return this.#monotonic
  }

  after(delayMs: number, fire: () => void): () => void {
    const due: Due = { at: this.#monotonic + Math.max(0, delayMs), fire }
    this.#due.push(due)
    return () => {
      this.#due = this.#due.filter((other) => other !== due)
    }
  }

  get pendingTimers(): number {
    return this.#due.length
  }

  advance(ms: number): void {
    const until = this.#monotonic + ms
    for (;;) {
      const next = this.#due.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#due = this.#due.filter((other) => other !== next)
      this.#monotonic = next.at
      next.fire()
    }
    this.#monotonic = until
  }
}

/** A linear congruence: enough to draw ids by. */
export function testRandom(seed = 1) {
  let state = seed
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  return { next, bytes: (count: number) => Buffer.from(Array.from({ length: count }, () => Math.floor(next() * 256))) }
}

export interface TestLogs {
  readonly time: TestTime
  readonly random: ReturnType<typeof testRandom>
  readonly directories: LogDirectories
}

/** A fresh disk in memory, or a directory of the real one that broker `brokerId` left. */
export async function openTestLogs(
  where: 'memory' | { readonly directory: string; readonly brokerId: number; readonly now: number },
): Promise<TestLogs> {
  const time = where === 'memory' ? new TestTime() : new TestTime(where.now)
  const random = testRandom()
  const directories = await LogDirectories.open({
    dirs: [where === 'memory' ? '/data' : where.directory],
    disk: where === 'memory' ? new MemoryDisk({ now: () => time.now(), durability: 'ignored' }) : nodeDisk,
    clock: time,
    timers: time,
    random,
    processes: { self: { pid: 1, startedAt: '' }, isRunning: () => false, holdsAdvisoryLock: () => false },
    brokerId: where === 'memory' ? 0 : where.brokerId,
    topicConfig: () => ({ ...DEFAULT_TOPIC_CONFIG, 'retention.ms': -1 }),
  })
  return { time, random, directories }
}
