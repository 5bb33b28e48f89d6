/** The logger of kafkajs' shape: levels, namespaces, and a `logCreator` that decides where entries go. */

import { logLevel } from './enums.js'
import type { Clock } from './ports.js'

export interface LoggerEntryContent {
  readonly timestamp: string
  readonly message: string
  // biome-ignore lint/suspicious/noExplicitAny: log creators written for kafkajs read what they know to be there
  [key: string]: any
}

export interface LogEntry {
  namespace: string
  level: logLevel
  label: string
  log: LoggerEntryContent
}

export type LogCreator = (level: logLevel) => (entry: LogEntry) => void

export interface Logger {
  info(message: string, extra?: object): void
  error(message: string, extra?: object): void
  warn(message: string, extra?: object): void
  debug(message: string, extra?: object): void
  namespace(namespace: string, level?: logLevel): Logger
  setLogLevel(level: logLevel): void
}

const LABELS: Record<number, string> = {
  [logLevel.ERROR]: 'ERROR',
  [logLevel.WARN]: 'WARN',
  [logLevel.INFO]: 'INFO',
  [logLevel.DEBUG]: 'DEBUG',
}

/** Entries as JSON lines on the console, errors and warnings on its error stream. */
export const consoleLogCreator: LogCreator = () => {
  return ({ namespace, level, label, log }) => {
    const line = JSON.stringify({
      level: label,
      ...log,
      message: namespace === '' ? log.message : `[${namespace}] ${log.message}`,
    })
    if (level === logLevel.ERROR) console.error(line)
    else if (level === logLevel.WARN) console.warn(line)
    else console.log(line)
  }
}

export interface LoggerOptions {
  level?: logLevel | undefined
  logCreator?: LogCreator | undefined
  clock: Clock
  /** Value of KAFKAJS_LOG_LEVEL: a level's name, which then counts instead of `level`. */
  levelName?: string | undefined
}

/** Makes the root logger. `setLogLevel` on it, or on any namespace without a level of its own, changes all of these. */
export function createLogger({ level = logLevel.INFO, logCreator = consoleLogCreator, clock, levelName }: LoggerOptions): Logger {
  const named = levelName === undefined ? undefined : logLevel[levelName.toUpperCase() as keyof typeof logLevel]
  const shared = { level: named ?? level }
  const write = logCreator(shared.level)

  const make = (namespace: string, own: logLevel | undefined): Logger => {
    const at =
      (entryLevel: logLevel) =>
      (message: string, extra: object = {}) => {
        if (entryLevel > (own ?? shared.level)) return
        const log = { timestamp: new Date(clock.now()).toISOString(), logger: 'kafkajs', message, ...extra }
        write({ namespace, level: entryLevel, label: LABELS[entryLevel]!, log })
      }
    return {
      info: at(logLevel.INFO),
      error: at(logLevel.ERROR),
      warn: at(logLevel.WARN),
      debug: at(logLevel.DEBUG),
      namespace: (name, ownLevel) => make(name, named ?? ownLevel),
      setLogLevel: (next) => {
        shared.level = next
      },
    }
  }
  return make('', undefined)
}
