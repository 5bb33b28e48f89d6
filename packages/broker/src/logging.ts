/**
 * Logs on stderr, written at once: pretty lines on a terminal, JSON lines otherwise. The library is loaded when the first line leaves, and
 * lines wait for `release` (the broker is ready) so that a start does not pay for it.
 */
import type { Logger } from './ports.js'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
type Method = Exclude<LogLevel, 'silent'>

export interface HeldLogger extends Logger {
  /** Writes what waited, and everything later at once. */
  release(): void
  /** Drops what waits. */
  forget(): void
}

/** Most lines that wait; beyond it they leave early. */
const HELD_LINES = 1000

export function createLogger(options: { readonly level: LogLevel; readonly pretty: boolean }): HeldLogger {
  const least = LOG_LEVELS.indexOf(options.level)
  let held: { method: Method; fields: object; message: string }[] | undefined = []
  let target: Logger | undefined
  const release = () => {
    const lines = held ?? []
    held = undefined
    for (const { method, fields, message } of lines) write(method, fields, message)
  }
  const write = (method: Method, fields: object, message: string) => {
    target ??= openPino(options)
    target[method](fields, message)
  }
  const log = (method: Method) => (fields: object, message: string) => {
    if (LOG_LEVELS.indexOf(method) < least) return
    if (held === undefined) return write(method, fields, message)
    held.push({ method, fields, message })
    if (held.length >= HELD_LINES) release()
  }
  const forget = () => {
    if (held !== undefined) held = []
  }
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error'), release, forget }
}

function openPino({ level, pretty }: { readonly level: LogLevel; readonly pretty: boolean }): Logger {
  // Loaded here and not at the top: together they cost more than the rest of a start.
  const { pino } = require('pino') as typeof import('pino')
  if (!pretty) return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }))
  const prettyStream = require('pino-pretty') as typeof import('pino-pretty')
  const stream = prettyStream.build({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname' })
  return pino({ level, base: null }, stream)
}

/** Says nothing: the default inside a user's process. */
export const SILENT_LOGGER: Logger = { debug() {}, info() {}, warn() {}, error() {} }
