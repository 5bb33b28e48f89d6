/** Starts the broker again whenever it ended, looks at what its disk kept before clients may come, and stops it at the end. */
import type { Chance } from './chance.js'
import type { Chaos } from './chaos.js'
import { Client, type Surroundings } from './client.js'
import { type Link, LinkLost } from './link.js'
import type { Ending, Life, Machine } from './machine.js'
import type { Reached } from './reached.js'
import type { StableTopic } from './stable-topic.js'

export interface SupervisorOptions {
  readonly machine: Machine
  readonly chaos: Chaos
  readonly chance: Chance
  readonly topic: StableTopic
  /** Who looks at what its room promises, after each start. */
  readonly looks: ((link: Link, loss: 'possible' | 'none') => Promise<void>)[]
  readonly reached: Reached
  /** What an acknowledgement promises. */
  readonly promise: 'synced' | 'page cache'
}

export class Supervisor {
  around!: Surroundings
  /** Power cuts that may have taken what was acknowledged. */
  losses = 0
  isOpen = false
  #lossIsPossible = false
  #lastEnd: 'clean' | 'unclean' = 'clean'
  #life: Life | undefined
  #isFinishing = false
  #whenOpened: () => void = () => {}
  readonly #opened = new Promise<void>((resolve) => {
    this.#whenOpened = resolve
  })

  constructor(readonly options: SupervisorOptions) {}

  /** Resolves when clients may come for the first time. */
  opened(): Promise<void> {
    return this.#opened
  }

  async run(): Promise<void> {
    const { machine, chaos, chance } = this.options
    while (!this.#isFinishing) {
      const life = machine.begin()
      this.#life = life
      chaos.began(life)
      const ending = await this.#live(life)
      this.isOpen = false
      this.#judge(life, ending)
      if (ending.kind === 'killed' && !this.#isFinishing && chance.happens(0.4)) this.#cutPower()
      await machine.world.sleep(chance.between(1, 1500))
    }
    await this.#lastLook()
  }

  /** The broker that runs is stopped; a new one comes for a last look, and is stopped too. */
  finish(): void {
    this.#isFinishing = true
    // Under inspection it is stopped afterwards.
    if (this.isOpen) void this.#life?.broker?.close()
  }

  async #live(life: Life): Promise<Ending> {
    const ending = await this.#serve(life)
    // Sockets that were closed last say so at the end of the turn, as Node's do.
    if (ending.kind === 'closed') await this.options.machine.world.sleep(0.001)
    return ending
  }

  async #serve(life: Life): Promise<Ending> {
    const early = await life.started
    if (early !== null) return early
    const inspected = await Promise.race([life.ended, this.#inspect(life)])
    if (inspected !== 'well') return inspected
    this.isOpen = true
    this.#whenOpened()
    return life.ended
  }

  async #lastLook(): Promise<void> {
    const life = this.options.machine.begin()
    const ending = await this.#live(life)
    this.#judge(life, ending)
  }

  async #inspect(life: Life): Promise<'well' | Ending> {
    const { machine, topic } = this.options
    const client = new Client(`inspector${machine.starts}`, this.around, 'inspects')
    try {
      const link = await client.link()
      const loss = this.#lossIsPossible ? 'possible' : 'none'
      if (!topic.isCreated) await topic.create(link)
      else await topic.inspect(client, link, this.#lastEnd, loss)
      for (const look of this.options.looks) await look(link, loss)
      client.hangUp()
      this.#lossIsPossible = false
      if (this.#isFinishing) void life.broker?.close()
      return 'well'
    } catch (error) {
      if (life.isStopping) return life.ended
      if (life.process.isAlive && !life.isHurt)
        this.around.violations.note('the inspection failed', String((error as Error).stack))
      else if (!(error instanceof LinkLost)) client.tell(`could not look: ${(error as Error).message}`)
      // A broker whose disk failed is stopped by hand if it does not stop by itself.
      if (life.process.isAlive) life.process.kill()
      return life.ended
    }
  }

  #judge(life: Life, ending: Ending): void {
    const { violations } = this.around
    const { reached } = this.options
    const { name, pendingTimers } = life.process
    // Who is killed while it stops, or stops since its metadata cannot be written, may have closed its logs cleanly.
    const isClean = ending.kind !== 'killed' || life.isStopping
    // Who is killed before it took the mark away has touched nothing: what counts is the end before it.
    if (isClean || !this.options.machine.hasCleanMark) this.#lastEnd = isClean ? 'clean' : 'unclean'
    if (ending.kind === 'not started' && !life.isHurt) violations.note('the broker did not start', `${name}: ${ending.reason}`)
    if (ending.kind === 'closed') {
      if (ending.failure !== null && !life.isHurt) violations.note('the broker gave up', `${name}: ${ending.failure.message}`)
      if (ending.failure !== null) reached.count('stopped by itself, its disk had failed')
      if (pendingTimers > 0) violations.note('something is left', `${name}: ${pendingTimers} timers`)
      for (const path of life.disk.openFiles) violations.note('something is left', `${name}: ${path} is open`)
    }
    life.process.kill()
  }

  #cutPower(): void {
    this.options.machine.cutPower()
    this.options.reached.count('power cut')
    if (this.options.promise === 'synced') return
    this.losses++
    this.#lossIsPossible = true
  }
}
