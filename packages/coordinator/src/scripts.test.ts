/**
 * Stories of groups: each file in `scripts/` holds commands, and under each what has been answered by then. `UPDATE_SCRIPTS=1` writes
 * the answers anew: read the difference before you keep it.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConsumerProtocolSubscription, encodeVersioned, errorByCode, valuesOf } from '@mq/protocol'
import { COORDINATOR_CONFIG } from './config.js'
import type { JoinReply, SyncReply } from './groups/commands.js'
import { Groups } from './groups/groups.js'
import { SILENT } from './runtime/ports.js'
import { ManualTime, MemoryPartition, SeededRandom, settled } from './testing.js'

/** The built test reads the scripts where they are written. */
const FOLDER = join(__dirname, '..', 'src', 'scripts')

class Stage {
  readonly time = new ManualTime(0)
  readonly port = new MemoryPartition(0)
  readonly told: string[] = []
  /** Member id → the name that the story has for it. */
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  #groups: Groups | null = null
  readonly #config: Record<string, number> = {}

  async groups(): Promise<Groups> {
    if (!this.#groups) {
      this.#groups = new Groups({
        config: valuesOf(COORDINATOR_CONFIG, this.#config),
        clock: this.time,
        timers: this.time,
        random: new SeededRandom(1),
        logger: SILENT,
        partitionCount: () => 1,
      })
      await this.#groups.load(this.port)
      await this.time.advance(0)
    }
    return this.#groups
  }

  configure(settings: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(settings)) this.#config[name] = Number(value)
  }

  async restart(): Promise<void> {
    ;(await this.groups()).unload(0)
    await settled()
    await (await this.groups()).load(this.port)
    await this.time.advance(0)
  }

  nameOf(memberId: string): string {
    if (memberId === '') return '(none)'
    const known = this.#names.get(memberId)
    if (known) return known
    const base = memberId.slice(0, -37)
    const count = (this.#counts.get(base) ?? 0) + 1
    this.#counts.set(base, count)
    const name = `${base}-${count}`
    this.#names.set(memberId, name)
    return name
  }

  idOf(name: string): string {
    for (const [memberId, known] of this.#names) if (known === name) return memberId
    return name
  }
}

const list = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : text.split(','))

const COMMANDS: Record<
  string,
  (stage: Stage, words: readonly string[], options: Readonly<Record<string, string>>) => Promise<void>
> = {
  async config(stage, _words, options) {
    stage.configure(options)
  },
  async tick(stage, [ms]) {
    await stage.time.advance(Number(ms))
  },
  async log(stage, [what, error]) {
    if (what === 'hold') stage.port.mode = 'hold'
    else if (what === 'refuse') stage.port.failure = error!
    else {
      stage.port.mode = 'commit'
      stage.port.commit()
    }
  },
  async restart(stage) {
    await stage.restart()
  },
  async join(stage, [who], options) {
    const groups = await stage.groups()
    const { topics = 't' } = options
    const metadata = encodeVersioned(ConsumerProtocolSubscription, 0, { topics: list(topics) })
    const reply = groups.run('g', {
      kind: 'join',
      groupId: 'g',
      memberId: stage.idOf(options.id ?? ''),
      groupInstanceId: options.static ?? null,
      clientId: who!,
      clientHost: '/127.0.0.1',
      sessionTimeoutMs: Number(options.session ?? 10_000),
      rebalanceTimeoutMs: Number(options.rebalance ?? 60_000),
      protocolType: options.type ?? 'consumer',
      protocols: list(options.protocols ?? 'range').map((name) => ({ name, metadata })),
      reason: null,
      requiresKnownMemberId: options.version !== 'old' && options.static === undefined,
      supportsSkippingAssignment: options.version !== 'old',
    })
    void reply.then((answer) => stage.told.push(`${who} ${describeJoin(stage, answer)}`))
  },
  async sync(stage, [who], options) {
    const groups = await stage.groups()
    const assignments = list(options.assign).map((pair) => {
      const [member, what] = pair.split(':')
      return { memberId: stage.idOf(member!), assignment: Buffer.from(what!) }
    })
    const reply = groups.run('g', {
      kind: 'sync',
      groupId: 'g',
      memberId: stage.idOf(options.id ?? who!),
      groupInstanceId: options.static ?? null,
      generationId: Number(options.generation),
      protocolType: options.type ?? 'consumer',
      protocolName: options.protocol ?? 'range',
      assignments,
    })
    void reply.then((answer: SyncReply) => {
      const error = errorByCode(answer.errorCode)
      stage.told.push(`${who} ${error === 'NONE' ? `owns ${answer.assignment.toString() || 'nothing'}` : error}`)
    })
  },
  async heartbeat(stage, [who], options) {
    const reply = (await stage.groups()).run('g', {
      kind: 'heartbeat',
      groupId: 'g',
      memberId: stage.idOf(who!),
      groupInstanceId: options.static ?? null,
      generationId: Number(options.generation),
    })
    void reply.then(({ errorCode }) => stage.told.push(`${who} ${errorByCode(errorCode)}`))
  },
  async leave(stage, names, options) {
    const members = [
      ...names.map((name) => ({ memberId: stage.idOf(name), groupInstanceId: null, reason: null })),
      ...list(options.static).map((groupInstanceId) => ({ memberId: '', groupInstanceId, reason: null })),
    ]
    const reply = (await stage.groups()).run('g', { kind: 'leave', groupId: 'g', members })
    void reply.then((answer) => {
      const results = answer.members.map((member) => errorByCode(member.errorCode))
      stage.told.push(`left ${results.join(' ')}`)
    })
  },
  async commit(stage, offsets, options) {
    const reply = (await stage.groups()).run('g', {
      kind: 'commitOffsets',
      groupId: 'g',
      memberId: stage.idOf(options.id ?? ''),
      groupInstanceId: options.static ?? null,
      generationId: Number(options.generation ?? -1),
      retentionTimeMs: Number(options.retention ?? -1),
      topics: offsets.map((text) => {
        const [name, partition, offset] = text.split(':')
        return {
          name: name!,
          partitions: [
            {
              partitionIndex: Number(partition),
              committedOffset: Number(offset),
              committedLeaderEpoch: Number(options.epoch ?? -1),
              committedMetadata: options.metadata ?? null,
              commitTimestamp: Number(options.timestamp ?? -1),
            },
          ],
        }
      }),
    })
    void reply.then(({ topics }) => {
      const results = topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, errorCode }) => `${name}:${partitionIndex} ${errorByCode(errorCode)}`),
      )
      stage.told.push(`committed ${results.join(', ')}`)
    })
  },
  async fetch(stage, wanted, options) {
    const topics =
      wanted[0] === 'all'
        ? null
        : wanted.map((text) => ({ name: text.split(':')[0]!, partitionIndexes: [Number(text.split(':')[1])] }))
    const fetched = (await stage.groups()).fetchOffsets({ groupId: 'g', topics, requireStable: options.stable === 'yes' })
    const results = fetched.topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionIndex, committedOffset, committedLeaderEpoch, metadata, errorCode }) => {
        const error = errorByCode(errorCode)
        const epoch = committedLeaderEpoch === -1 ? '' : ` epoch=${committedLeaderEpoch}`
        return `${name}:${partitionIndex} ${error === 'NONE' ? committedOffset : error}${epoch}${metadata && ` (${metadata})`}`
      }),
    )
    stage.told.push(results.join(', ') || 'no offsets')
  },
  async 'delete-offsets'(stage, wanted) {
    const topics = wanted.map((text) => ({
      name: text.split(':')[0]!,
      partitions: [{ partitionIndex: Number(text.split(':')[1]) }],
    }))
    const reply = (await stage.groups()).run('g', { kind: 'deleteOffsets', groupId: 'g', topics })
    void reply.then((answer) => {
      const results = answer.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, errorCode }) => `${name}:${partitionIndex} ${errorByCode(errorCode)}`),
      )
      stage.told.push([errorByCode(answer.errorCode), ...results].join(' '))
    })
  },
  async 'delete-group'(stage) {
    const reply = (await stage.groups()).run('g', { kind: 'deleteGroup', groupId: 'g' })
    void reply.then(({ errorCode }) => stage.told.push(errorByCode(errorCode)))
  },
  async 'delete-topic'(stage, [topic]) {
    await (await stage.groups()).partitionsDeleted(topic!, null)
  },
  async describe(stage) {
    const group = (await stage.groups()).describe('g')
    const members = group.members.map((member) => {
      const owns = member.memberAssignment.toString()
      return `${stage.nameOf(member.memberId)}${owns && `:${owns}`}`
    })
    stage.told.push([group.groupState, group.protocolType || '-', group.protocolData || '-', `(${members.join(' ')})`].join(' '))
  },
}

function describeJoin(stage: Stage, answer: JoinReply): string {
  const error = errorByCode(answer.errorCode)
  if (error !== 'NONE') return `${error}${answer.memberId ? ` ${stage.nameOf(answer.memberId)}` : ''}`
  const members = answer.members.map(({ memberId }) => stage.nameOf(memberId)).join(' ')
  const skip = answer.skipAssignment ? ' skip-assignment' : ''
  return `joins as ${stage.nameOf(answer.memberId)} generation=${answer.generationId} protocol=${answer.protocolName} leader=${stage.nameOf(answer.leader)}${members && ` members=(${members})`}${skip}`
}

async function play(text: string): Promise<string> {
  const stage = new Stage()
  const out: string[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('->')) continue
    out.push(line)
    if (line === '' || line.startsWith('#')) continue
    const [verb = '', ...rest] = line.split(/\s+/)
    const command = COMMANDS[verb]
    assert.ok(command, `unknown command ${verb}`)
    const isOption = (word: string) => /^[a-z.]+=/.test(word)
    const options = Object.fromEntries(rest.filter(isOption).map((word) => word.split(/=(.*)/s).slice(0, 2) as [string, string]))
    await command(
      stage,
      rest.filter((word) => !isOption(word)),
      options,
    )
    await settled()
    for (const told of stage.told.splice(0)) out.push(`-> ${told}`)
  }
  return out.join('\n')
}

describe('stories of groups', () => {
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))) {
    it(file.replace('.txt', '').replaceAll('-', ' '), async () => {
      const path = join(FOLDER, file)
      const expected = readFileSync(path, 'utf8')
      const actual = await play(expected)
      if (process.env.UPDATE_SCRIPTS === '1') writeFileSync(path, actual)
      else assert.equal(actual, expected)
    })
  }
})
