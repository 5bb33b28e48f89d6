/** From what was set to what a start needs: checked values, listeners, limits. Anything wrong is a StartError that says what to set. */

import { cleanerProblem } from '@mq/log'
import { parsePairs } from './config/overrides.js'
import { type ReadConfig, readConfig } from './config/read.js'
import { type Listeners, readListeners } from './listeners.js'
import type { ConnectionLimits } from './net/server.js'
import { StartError } from './start-error.js'

export interface Settings {
  readonly settings: ReadConfig
  readonly listeners: Listeners
  readonly limits: ConnectionLimits
  readonly logDirectories: readonly string[]
  /** From `broker.id` or `node.id`; null: the one in the data directory, else a new one. */
  readonly brokerId: number | null
}

export function readSettings(given: ReadonlyMap<string, string>): Settings {
  const settings = readConfig(given)
  if (settings.problems.length > 0) throw new StartError(settings.problems.join('\n'))
  const config = settings.values
  const cleaner = cleanerProblem(config)
  if (cleaner !== null) throw new StartError(cleaner)
  checkMetadataStore(config['mq.metadata.store'], config['zookeeper.connect'])
  const listeners = readListeners(config)
  if ('kind' in listeners) throw new StartError(listeners.message)
  const overrides = parsePairs(config['max.connections.per.ip.overrides'])
  if ('wrong' in overrides) {
    throw new StartError(
      `Invalid value ${overrides.wrong} for configuration max.connections.per.ip.overrides: must be address:count pairs`,
    )
  }
  const id = Math.max(config['broker.id'], config['node.id'])
  return {
    settings,
    listeners,
    limits: { ...config, 'max.connections.per.ip.overrides': overrides },
    logDirectories: logDirectories(config['log.dirs'], config['log.dir']),
    brokerId: id < 0 ? null : id,
  }
}

function checkMetadataStore(store: string | null, ensemble: string | null): void {
  if (store === 'embedded' || (store === null && !ensemble)) return
  throw new StartError(
    `${ensemble ? `zookeeper.connect=${ensemble} names` : 'mq.metadata.store=zookeeper asks for'} a ZooKeeper ensemble, ` +
      'which this version cannot use yet; add --override mq.metadata.store=embedded to let this broker keep its metadata itself',
  )
}

function logDirectories(dirs: string | null, dir: string): string[] {
  const named = (dirs ?? dir)
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  if (named.length === 0) throw new StartError('log.dirs names no directory; set at least one')
  const twice = named.find((one, at) => named.indexOf(one) !== at)
  if (twice !== undefined) throw new StartError(`log.dirs names ${twice} twice`)
  return named
}
