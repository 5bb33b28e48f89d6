/**
 * Virtual time and the order of events: one queue for everything that happens in a run. An event runs, and all that hangs on
 * promises only, before the next one; time jumps from event to event.
 */
import { Story } from './story.js'

interface Event {
  readonly at: number
  /** Among events of one moment: work for the end of the turn comes last. */
  readonly rank: 0 | 1
  readonly order: number
  readonly what: string
  fire: (() => void) | null
}

const before = (a: Event, b: Event): boolean =>
  a.at !== b.at ? a.at < b.at : a.rank !== b.rank ? a.rank < b.rank : a.order < b.order

/** 2023-11-14: far from both ends of what a timestamp may be. */
const BEGAN_AT_MS = 1_700_000_000_000

export class World {
  readonly story: Story
  #heap: Event[] = []
  #order = 0
  #nowMs = 0
  #wallOffsetMs = 0
  #eventCount = 0

  constructor(story = new Story()) {
    this.story = story
  }

  /** Milliseconds since the run began, with fractions. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** What a wall clock shows. */
  get wallMs(): number {
    return Math.floor(BEGAN_AT_MS + this.#wallOffsetMs + this.#nowMs)
  }

  get eventCount(): number {
    return this.#eventCount
  }

  /** The wall clock is set forward or back; nothing that waits is moved by it. */
  jumpWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs
  }

  tell(line: string): void {
    this.story.add(`${this.#nowMs.toFixed(3)} ${line}`)
  }

  after(delayMs: number, what: string, fire: () => void): () => void {
    return this.#add({
      at: this.#nowMs + Math.max(0, Number.isNaN(delayMs) ? 0 : delayMs),
      rank: 0,
      order: this.#order++,
      what,
      fire,
    })
  }

  afterThisTurn(what: string, fire: () => void): () => void {
    return this.#add({ at: this.#nowMs, rank: 1, order: this.#order++, what, fire })
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, 'sleep', resolve)
    })
  }

  /** Runs events until `promise` is settled. Rejects as it does, or when nothing is left that could settle it. */
  async run<R>(promise: Promise<R>): Promise<R> {
    let isSettled = false
    const settled = () => {
      isSettled = true
    }
    promise.then(settled, settled)
    await drained()
    while (!isSettled) {
      const event = this.#take()
      if (event === undefined) throw new Error('nothing will ever happen any more, and something is still waited for')
      if (event.fire === null) continue
      this.#nowMs = event.at
      this.#eventCount++
      this.story.add(`${event.at.toFixed(3)} (${event.what})`)
      event.fire()
      await drained()
    }
    return promise
  }

  #add(event: Event): () => void {
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!before(event, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = event
    return () => {
      event.fire = null
    }
  }

  #take(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}

/** All microtasks and ticks have run when an immediate does; nothing in a run waits for anything else of Node. */
function drained(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
