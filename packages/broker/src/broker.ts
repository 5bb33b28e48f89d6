/**
 * One broker, assembled: starts its rooms in order and stops them in reverse. No rule lives here.
 *
 * The listeners are bound first, so that a taken port is noticed before a directory is touched; they are read from last, when everything
 * behind them stands.
 */
import type { Disk } from '@mq/log'
import { InvariantError } from '@mq/protocol'
import { Partitions } from '@mq/replica'
import type { BrokerConfig } from './config/tables.js'
import { topicConfigRules } from './config/topic-rules.js'
import type { Controller, ControllerDefaults } from './controller/api.js'
import { SingleController } from './controller/runner.js'
import { type GroupCoordinator, OFFSETS_TOPIC, startGroupCoordinator } from './group-coordinator.js'
import { FetchSessions } from './handlers/fetch-sessions.js'
import { HANDLERS } from './handlers/index.js'
import { type Listening, openListeners } from './listening.js'
import { adoptDirectories } from './metadata/adoption.js'
import { producerIdBlocks } from './metadata/producer-ids.js'
import { answerMayBeLarge, isLent, mayOverlap, RequestRouter } from './net/requests.js'
import { SocketServer } from './net/server.js'
import { partitionChannel } from './partition-channel.js'
import type { Environment, Logger } from './ports.js'
import { ProducerIds } from './producer-ids.js'
import type { BrokerServices } from './services.js'
import { readSettings, type Settings } from './settings.js'
import { StartError } from './start-error.js'
import { type BrokerFailure, openStorage, type Storage } from './storage.js'

export interface BrokerOptions {
  /** Configs by their documented names, as text. */
  readonly given: ReadonlyMap<string, string>
  /** `memory` keeps nothing; `disk` uses `log.dirs`. */
  readonly storage: 'disk' | 'memory'
  /** Default: the real one. */
  readonly disk?: Disk
  readonly environment: Environment
  readonly log: Logger
}

/** Requests in flight get this long to end when the broker stops. */
const DRAIN_MS = 3000

export class Broker {
  readonly #options: BrokerOptions
  readonly #settings: Settings
  readonly #server: SocketServer
  readonly #listening: Listening
  #services: BrokerServices | undefined
  #rooms: Rooms | undefined
  #closing: Promise<void> | undefined
  /** Opening and closing the rooms never overlap, whoever asks for it: start, reset, close, a failure. */
  #turn: Promise<unknown> = Promise.resolve()
  #failure: BrokerFailure | null = null
  #ended: (failure: BrokerFailure | null) => void = () => {}

  /** Resolves once, when the broker has stopped: null after `close`, else why it stopped by itself. */
  readonly closed: Promise<BrokerFailure | null>

  private constructor(options: BrokerOptions, settings: Settings, server: SocketServer, listening: Listening) {
    this.#options = options
    this.#settings = settings
    this.#server = server
    this.#listening = listening
    this.closed = new Promise((resolve) => {
      this.#ended = resolve
    })
  }

  /** Resolves when clients are served. Rejects with a StartError that says what to change; nothing is left behind then. */
  static async start(options: BrokerOptions): Promise<Broker> {
    const { environment, log } = options
    const settings = readSettings(options.given)
    for (const warning of settings.settings.warnings) log.warn({}, warning)
    // The router asks for the broker that is made below.
    let broker: Broker | undefined
    const router = new RequestRouter({
      handlers: HANDLERS,
      services: () => broker?.services,
      log,
      onFatal: (error) => broker?.fail({ kind: 'defect', message: error.message }),
    })
    const server = new SocketServer({
      ...environment,
      limits: settings.limits,
      log,
      serve: (frame, connection, answered) => router.serve(frame, connection, answered),
      mayOverlap,
      isLent,
      answerMayBeLarge,
    })
    try {
      broker = new Broker(options, settings, server, await openListeners(server, settings.listeners))
      await broker.#inTurn(() => broker!.#begin())
      if (broker.#failure !== null) throw new Error('it failed while it started')
      server.open()
      return broker
    } catch (error) {
      server.destroy()
      if (broker === undefined) throw error
      await broker.#closing
      throw startErrorOf(error, broker.#failure)
    }
  }

  /** Undefined while it starts, resets or stops. */
  private get services(): BrokerServices | undefined {
    return this.#services
  }

  /** `host:port`, as clients take it. */
  get bootstrap(): string {
    return this.#listening.bootstrap
  }
  /** Of the first listener. */
  get port(): number {
    return this.#listening.bound[0]!.port
  }
  get brokerId(): number {
    return this.#running.services.brokerId
  }
  get clusterId(): string {
    return this.#running.services.clusterId
  }
  /** Absolute paths of the data directories; none in memory. */
  get directories(): readonly string[] {
    return this.#rooms?.storage.directories ?? []
  }

  /** Stops in order: no new requests, those in flight end, logs are closed cleanly. May be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  /** Empties the broker: no topics, groups or sessions are left; connections stay. Only in memory. */
  async reset(): Promise<void> {
    if (this.#options.storage !== 'memory') throw new TypeError('only a broker in memory can be reset')
    await this.#inTurn(async () => {
      if (this.#closing !== undefined) throw new TypeError('the broker is closed')
      this.#services = undefined
      await this.#stopRooms()
      await this.#begin()
    })
  }

  get #running(): Rooms {
    if (this.#rooms === undefined) throw new InvariantError('the broker is not running')
    return this.#rooms
  }

  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }

  async #begin(): Promise<void> {
    const rooms = await openRooms(this.#options, this.#settings, this.#listening, (failure) => this.fail(failure))
    this.#rooms = rooms
    this.#services = rooms.services
  }

  /** Stops by itself, with the reason. */
  private fail(failure: BrokerFailure): void {
    if (this.#failure !== null || this.#closing !== undefined) return
    this.#failure = failure
    this.#options.log.error({ kind: failure.kind }, `the broker stops: ${failure.message}`)
    void this.close()
  }

  async #end(): Promise<void> {
    const { log } = this.#options
    try {
      const drained = this.#server.close(DRAIN_MS)
      this.#rooms?.release()
      await drained
      await this.#inTurn(async () => {
        this.#services = undefined
        await this.#stopRooms()
      })
      log.info({}, 'stopped')
    } catch (error) {
      const message = (error as Error).message
      log.error({ err: error }, `the stop was not clean: ${message}`)
      this.#failure ??= { kind: 'storage', message }
    }
    this.#ended(this.#failure)
  }

  async #stopRooms(): Promise<void> {
    const rooms = this.#rooms
    this.#rooms = undefined
    await rooms?.close()
  }
}

/** What failed while it started is what the user has to hear of, not what went wrong in consequence. */
function startErrorOf(error: unknown, failure: BrokerFailure | null): unknown {
  if (failure === null || error instanceof StartError) return error
  return new StartError(failure.message, failure.kind === 'storage' ? 3 : 1, { cause: error })
}

/** Everything behind the sockets. */
interface Rooms {
  readonly services: BrokerServices
  readonly storage: Storage
  /** Answers the requests that wait for others: for members, bytes or replicas. */
  release(): void
  close(): Promise<void>
}

async function openRooms(
  { environment, log, storage: kind, disk }: BrokerOptions,
  { settings, logDirectories, brokerId }: Settings,
  listening: Listening,
  onFailure: (failure: BrokerFailure) => void,
): Promise<Rooms> {
  const { clock, timers, random, turn } = environment
  const config = settings.values
  const where = { kind, directories: logDirectories, ...(disk === undefined ? {} : { disk }) }
  const storage = await openStorage({ ...where, brokerId, settings, environment, log, onFailure })
  const undo: (() => unknown)[] = [() => storage.close()]
  try {
    const partitions = new Partitions({ brokerId: storage.brokerId, logs: storage.logs, timers, turn })
    undo.push(() => partitions.close())
    const adoption = await adoptDirectories({ ...storage, clock, timers, log })
    undo.push(() => adoption.close())
    const controller: Controller = await SingleController.start({
      registration: { brokerId: storage.brokerId, endpoints: listening.endpoints, rack: config['broker.rack'] },
      store: storage.store,
      channel: partitionChannel({ partitions, settings, log }),
      configs: topicConfigRules(settings),
      defaults: controllerDefaults(config),
      clock,
      random,
      log,
      facts: adoption.facts,
    })
    undo.push(() => controller.close())
    storage.startCleaner()
    const coordinator: GroupCoordinator = startGroupCoordinator({
      config,
      clock,
      timers,
      random,
      log,
      controller,
      partitions,
      store: storage.store,
    })
    undo.push(() => coordinator.close())
    const services: BrokerServices = {
      brokerId: storage.brokerId,
      clusterId: storage.clusterId,
      config,
      settings,
      clock,
      timers,
      turn,
      random,
      offload: storage.logs.offload,
      log,
      controller,
      partitions,
      groups: coordinator.groups,
      store: storage.store,
      fetchSessions: new FetchSessions({ slots: config['max.incremental.fetch.session.cache.slots'], clock, random }),
      producerIds: new ProducerIds(producerIdBlocks(storage.store, storage.brokerId)),
    }
    const release = () => {
      coordinator.close()
      partitions.close()
    }
    return { services, storage, release, close: () => inReverse(undo) }
  } catch (error) {
    await inReverse(undo).catch(() => {})
    throw error
  }
}

/** Runs all of them, the last one first, also when one fails; the first failure is thrown. */
async function inReverse(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of [...steps].reverse()) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

function controllerDefaults(config: BrokerConfig): ControllerDefaults {
  return {
    numPartitions: config['num.partitions'],
    replicationFactor: config['default.replication.factor'],
    deleteTopicEnable: config['delete.topic.enable'],
    internalTopics: {
      [OFFSETS_TOPIC]: {
        partitions: config['offsets.topic.num.partitions'],
        replicationFactor: config['offsets.topic.replication.factor'],
        configs: {
          'cleanup.policy': 'compact',
          'segment.bytes': String(config['offsets.topic.segment.bytes']),
          'compression.type': 'producer',
        },
      },
    },
  }
}
