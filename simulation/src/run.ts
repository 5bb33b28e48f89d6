/** One run on one seed: a broker, its clients and what goes wrong, then calm, a last look and a clean end. A seed in, a story out. */
import { Admin } from './admin.js'
import { Chance } from './chance.js'
import { type BrokenRule, Chaos } from './chaos.js'
import type { Surroundings } from './client.js'
import { Client } from './client.js'
import { Machine } from './machine.js'
import { GroupHistory, Member } from './members.js'
import { SimulatedNetwork } from './network.js'
import { Producer } from './producer.js'
import { Reached } from './reached.js'
import { Reader } from './reader.js'
import { watchRejections } from './rejections.js'
import { StableTopic, TOPIC } from './stable-topic.js'
import { Story } from './story.js'
import { Supervisor } from './supervisor.js'
import { Violations } from './violations.js'
import { World } from './world.js'

export interface RunOptions {
  readonly seed: number
  /** Gets each line of the story. */
  readonly tell?: (line: string) => void
  readonly without?: BrokenRule
}

export interface RunOutcome {
  readonly seed: number
  /** Of the whole story. */
  readonly digest: string
  readonly violations: readonly string[]
  readonly reached: Reached
  readonly events: number
  readonly starts: number
  readonly simulatedMs: number
  readonly acknowledged: number
  /** Offset commits that were acknowledged, and rounds of the group that members were told of. */
  readonly commits: number
  readonly rounds: number
}

/** Faults come that long, in simulated time; then everything heals. */
const CHAOS_MS = 10_000
/** Within it all clients must have got their answers after that. */
const CALM_MS = 60_000

export async function simulate({ seed, tell, without }: RunOptions): Promise<RunOutcome> {
  const world = new World(new Story(tell))
  const chance = new Chance(seed)
  const violations = new Violations((line) => world.tell(line))
  const reached = new Reached()
  const network = new SimulatedNetwork(world, chance.stream('network'))
  const plan = planOf(chance.stream('plan'))
  world.tell(`seed ${seed}: ${JSON.stringify(plan)}${without === undefined ? '' : `, without ${without}`}`)
  const topic = new StableTopic(plan.partitions, plan.promise, violations)
  const machine = new Machine(world, network, chance.stream('machine'), configsOf(plan), violations, without)
  const chaos = new Chaos(world, network, chance.stream('chaos'), reached)
  const supervisor = new Supervisor({
    machine,
    chaos,
    chance: chance.stream('supervisor'),
    topic,
    looks: [],
    reached,
    promise: plan.promise,
  })
  const around: Surroundings = { world, network, chance, violations, isOpen: () => supervisor.isOpen }
  supervisor.around = around

  let isOver = false
  let isHopeless = false
  const losses = () => supervisor.losses
  const spec = { topic: TOPIC, histories: topic.histories, pauseMs: plan.pauseMs, mostBytes: plan.mostBytes, losses }
  const producers = plan.producers.map((kind, at) => {
    const acks = kind === 'silent' ? 0 : kind === 'plain' && at % 2 === 0 ? 1 : -1
    return new Producer(new Client(`${kind}${at}`, around), { ...spec, kind, acks })
  })
  const readers = [0, 1].map((at) => new Reader(new Client(`reader${at}`, around), spec))

  const admin = new Admin(new Client('admin', around))
  const group = new GroupHistory('workers', TOPIC, plan.partitions, violations)
  const members = [0, 1, 2].map((at) => new Member(new Client(`member${at}`, around), group))
  supervisor.options.looks.push(
    (link) => admin.inspect(link),
    (link, loss) => group.inspect(link, loss),
  )

  const story = async () => {
    const supervised = supervisor.run()
    await supervisor.opened()
    const writing = producers.map((producer) =>
      producer.run(
        () => isOver,
        () => isHopeless,
      ),
    )
    const reading = readers.map((reader) => reader.run(() => isOver))
    const sharing = members.map((member) => member.run(() => isOver))
    const administering = admin.run(() => isOver)
    await chaos.run(CHAOS_MS)
    world.tell('from here on nothing goes wrong')
    isOver = true
    const giveUp = world.after(CALM_MS, 'patience ends', () => {
      isHopeless = true
      violations.note('no answer', 'a client has waited too long after everything was well again')
    })
    await Promise.all([...writing, ...reading, ...sharing, administering])
    giveUp()
    supervisor.finish()
    await supervised
  }
  const rejections = watchRejections((reason) =>
    violations.note('a rejection that nobody handled', String((reason as Error).stack)),
  )
  try {
    await world.run(story())
  } catch (error) {
    violations.note('the run broke off', String((error as Error).stack))
  } finally {
    rejections.end()
  }
  return {
    seed,
    digest: world.story.digest(),
    violations: violations.found,
    reached,
    events: world.eventCount,
    starts: machine.starts,
    simulatedMs: world.nowMs,
    acknowledged: topic.histories.reduce((sum, { acknowledgedCount }) => sum + acknowledgedCount, 0),
    commits: group.commits,
    rounds: group.rounds,
  }
}

interface Plan {
  readonly promise: 'synced' | 'page cache'
  readonly partitions: number
  readonly segmentBytes: number
  readonly mostBytes: number
  readonly pauseMs: number
  readonly producers: readonly ('idempotent' | 'plain' | 'silent')[]
}

function planOf(chance: Chance): Plan {
  const segmentBytes = chance.one([4096, 16_384, 400_000])
  return {
    promise: chance.one(['synced', 'page cache']),
    partitions: chance.whole(1, 4),
    segmentBytes,
    mostBytes: segmentBytes > 300_000 ? 100_000 : 900,
    pauseMs: chance.one([20, 100, 300]),
    producers: [
      'idempotent',
      ...Array.from({ length: chance.whole(1, 4) }, () => chance.one(['idempotent', 'plain', 'silent'] as const)),
    ],
  }
}

function configsOf({ promise, segmentBytes }: Plan): Record<string, string> {
  return {
    listeners: 'PLAINTEXT://10.0.0.9:9092',
    'advertised.listeners': 'PLAINTEXT://10.0.0.9:9092',
    'broker.id': '1',
    'log.segment.bytes': String(segmentBytes),
    'log.index.interval.bytes': '400',
    'log.index.size.max.bytes': '1200',
    'offsets.topic.num.partitions': '3',
    'auto.create.topics.enable': 'false',
    'log.initial.task.delay.ms': '500',
    'log.flush.offset.checkpoint.interval.ms': '1500',
    'log.flush.start.offset.checkpoint.interval.ms': '1700',
    'replica.high.watermark.checkpoint.interval.ms': '900',
    ...(promise === 'synced' ? { 'log.flush.interval.messages': '1' } : {}),
  }
}
