/** The admin's public face. What it can do lives beside it: topics, offsets, groups, configs. */

import type { Cluster } from '../cluster.js'
import type { AdminListeners, On } from '../event-payloads.js'
import { ADMIN_EVENTS, type AdminEvents, type Instrumentation, onOf } from '../events.js'
import type { Logger } from '../logger.js'
import { ConfigAdmin } from './configs.js'
import { GroupAdmin } from './groups.js'
import { OffsetAdmin } from './offsets.js'
import { Routes } from './routes.js'
import { TopicAdmin } from './topics.js'

export interface AdminOptions {
  readonly cluster: Cluster
  readonly instrumentation: Instrumentation
  readonly logger: Logger
}

export class Admin {
  readonly events: AdminEvents = ADMIN_EVENTS
  /** Adds a listener; the answer removes it. */
  readonly on: On<AdminListeners>
  readonly #options: AdminOptions
  readonly #topics: TopicAdmin
  readonly #offsets: OffsetAdmin
  readonly #groups: GroupAdmin
  readonly #configs: ConfigAdmin

  constructor(options: AdminOptions) {
    this.#options = options
    this.on = onOf('admin', ADMIN_EVENTS, options.instrumentation) as On<AdminListeners>
    const routes = new Routes(options.cluster)
    this.#topics = new TopicAdmin(routes)
    this.#groups = new GroupAdmin(routes)
    this.#offsets = new OffsetAdmin(routes, this.#groups)
    this.#configs = new ConfigAdmin(routes)
  }

  logger(): Logger {
    return this.#options.logger
  }

  async connect(): Promise<void> {
    await this.#options.cluster.connect()
    this.#options.instrumentation.emit(ADMIN_EVENTS.CONNECT, () => null)
  }

  async disconnect(): Promise<void> {
    await this.#options.cluster.disconnect()
    this.#options.instrumentation.emit(ADMIN_EVENTS.DISCONNECT, () => null)
  }

  listTopics(...args: Parameters<TopicAdmin['listTopics']>): ReturnType<TopicAdmin['listTopics']> {
    return this.#topics.listTopics(...args)
  }

  createTopics(...args: Parameters<TopicAdmin['createTopics']>): ReturnType<TopicAdmin['createTopics']> {
    return this.#topics.createTopics(...args)
  }

  deleteTopics(...args: Parameters<TopicAdmin['deleteTopics']>): ReturnType<TopicAdmin['deleteTopics']> {
    return this.#topics.deleteTopics(...args)
  }

  createPartitions(...args: Parameters<TopicAdmin['createPartitions']>): ReturnType<TopicAdmin['createPartitions']> {
    return this.#topics.createPartitions(...args)
  }

  fetchTopicMetadata(...args: Parameters<TopicAdmin['fetchTopicMetadata']>): ReturnType<TopicAdmin['fetchTopicMetadata']> {
    return this.#topics.fetchTopicMetadata(...args)
  }

  describeCluster(...args: Parameters<TopicAdmin['describeCluster']>): ReturnType<TopicAdmin['describeCluster']> {
    return this.#topics.describeCluster(...args)
  }

  fetchOffsets(...args: Parameters<OffsetAdmin['fetchOffsets']>): ReturnType<OffsetAdmin['fetchOffsets']> {
    return this.#offsets.fetchOffsets(...args)
  }

  fetchTopicOffsets(...args: Parameters<OffsetAdmin['fetchTopicOffsets']>): ReturnType<OffsetAdmin['fetchTopicOffsets']> {
    return this.#offsets.fetchTopicOffsets(...args)
  }

  fetchTopicOffsetsByTimestamp(
    ...args: Parameters<OffsetAdmin['fetchTopicOffsetsByTimestamp']>
  ): ReturnType<OffsetAdmin['fetchTopicOffsetsByTimestamp']> {
    return this.#offsets.fetchTopicOffsetsByTimestamp(...args)
  }

  setOffsets(...args: Parameters<OffsetAdmin['setOffsets']>): ReturnType<OffsetAdmin['setOffsets']> {
    return this.#offsets.setOffsets(...args)
  }

  resetOffsets(...args: Parameters<OffsetAdmin['resetOffsets']>): ReturnType<OffsetAdmin['resetOffsets']> {
    return this.#offsets.resetOffsets(...args)
  }

  deleteTopicRecords(...args: Parameters<OffsetAdmin['deleteTopicRecords']>): ReturnType<OffsetAdmin['deleteTopicRecords']> {
    return this.#offsets.deleteTopicRecords(...args)
  }

  listGroups(...args: Parameters<GroupAdmin['listGroups']>): ReturnType<GroupAdmin['listGroups']> {
    return this.#groups.listGroups(...args)
  }

  describeGroups(...args: Parameters<GroupAdmin['describeGroups']>): ReturnType<GroupAdmin['describeGroups']> {
    return this.#groups.describeGroups(...args)
  }

  deleteGroups(...args: Parameters<GroupAdmin['deleteGroups']>): ReturnType<GroupAdmin['deleteGroups']> {
    return this.#groups.deleteGroups(...args)
  }

  describeConfigs(...args: Parameters<ConfigAdmin['describeConfigs']>): ReturnType<ConfigAdmin['describeConfigs']> {
    return this.#configs.describeConfigs(...args)
  }

  alterConfigs(...args: Parameters<ConfigAdmin['alterConfigs']>): ReturnType<ConfigAdmin['alterConfigs']> {
    return this.#configs.alterConfigs(...args)
  }

  incrementalAlterConfigs(
    ...args: Parameters<ConfigAdmin['incrementalAlterConfigs']>
  ): ReturnType<ConfigAdmin['incrementalAlterConfigs']> {
    return this.#configs.incrementalAlterConfigs(...args)
  }
}
