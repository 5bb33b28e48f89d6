/** The binary `mq-broker`: reads flags and a file, runs one broker, and ends the process with 0 clean, 1 start failed, 2 usage, 3 storage. */
import { readFileSync } from 'node:fs'
import { type Flags, parseFlags, USAGE } from './flags.js'
import { createLogger } from './logging.js'
import { fileProfile, standaloneProfile } from './profile.js'
import type { RunningBroker } from './start-broker.js'
import { StartError } from './start-error.js'
import { onSignal, STOP_SIGNALS } from './stopping.js'

const DEFAULT_DIRECTORY = './mq-data'
const DEFAULT_PORT = 9092
/** A start that takes longer, as after a kill with much to recover, says from then on what it does. */
const QUIET_START_MS = 1000

void run(process.argv.slice(2))

async function run(args: readonly string[]): Promise<void> {
  const flags = parseFlags(args)
  if ('wrong' in flags) return end(2, `mq-broker: ${flags.wrong}\n\n${USAGE}`)
  if (flags.help) return void process.stdout.write(USAGE)
  if (flags.version) return void process.stdout.write(`${require('../package.json').version}\n`)
  const profile = readProfile(flags)
  if ('wrong' in profile) return end(1, `mq-broker: ${profile.wrong}\n`)
  if (flags.printConfig) {
    for (const [name, value] of profile.given) process.stdout.write(`${name}=${value}\n`)
    return
  }
  await serve(flags, profile)
}

interface Profile {
  readonly given: Map<string, string>
  readonly warnings: readonly string[]
}

function readProfile(flags: Flags): Profile | { readonly wrong: string } {
  let profile: Profile
  if (flags.file === undefined) {
    profile = { given: standaloneProfile({ directory: flags.data ?? DEFAULT_DIRECTORY, port: DEFAULT_PORT }), warnings: [] }
    // Clients have to be told where the broker really listens: the profile's own address goes with the profile's own listeners.
    if (new Map(flags.overrides).has('listeners')) profile.given.delete('advertised.listeners')
  } else {
    try {
      // Java reads these files as ISO-8859-1.
      const { parseProperties } = require('./server-properties.js') as typeof import('./server-properties.js')
      profile = fileProfile(parseProperties(readFileSync(flags.file, 'latin1')))
    } catch (error) {
      return { wrong: `cannot read ${flags.file}: ${(error as Error).message}` }
    }
    if (flags.data !== undefined) profile.given.set('log.dirs', flags.data)
  }
  for (const [name, value] of flags.overrides) profile.given.set(name, value)
  return profile
}

async function serve(flags: Flags, { given, warnings }: Profile): Promise<void> {
  const log = createLogger({ level: flags.logLevel, pretty: process.stderr.isTTY })
  for (const warning of warnings) log.warn({}, warning)
  if (process.env.MQ_DEBUG) {
    const { printTraces } = require('./trace.js') as typeof import('./trace.js')
    const unknown = printTraces(process.env.MQ_DEBUG, (line) => process.stderr.write(line))
    if (unknown.length > 0) log.warn({}, `MQ_DEBUG names no traces: ${unknown.join(', ')}`)
  }
  // Loaded here: help, version and usage errors do not need a broker.
  const { Broker } = require('./broker.js') as typeof import('./broker.js')
  const { nodeEnvironment } = require('./node-environment.js') as typeof import('./node-environment.js')
  const stop = (code: number, line?: string) => {
    log.release()
    end(code, line)
    process.exit()
  }
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, `the broker fails: ${error.message}`)
    stop(1)
  })
  setTimeout(() => log.release(), QUIET_START_MS).unref()
  let broker: RunningBroker | undefined
  const environment = nodeEnvironment()
  const receive = onSignal({ broker: () => broker, timers: environment.timers, end: stop })
  for (const signal of STOP_SIGNALS) process.on(signal, receive)
  try {
    broker = await Broker.start({
      given,
      storage: flags.memory ? 'memory' : 'disk',
      environment,
      log,
    })
    process.stdout.write(`${readyLine(broker)}\n`)
    setImmediate(() => log.release())
    const reason = await broker.closed
    stop(reason === null ? 0 : reason.kind === 'storage' ? 3 : 1, reason === null ? undefined : `mq-broker: ${reason.message}\n`)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    // Its one line says all; who wants to know more asks for it.
    if (flags.logLevel !== 'debug') log.forget()
    stop(error.exitCode, error.message.replace(/^/gm, 'mq-broker: ').concat('\n'))
  }
}

function readyLine(broker: RunningBroker): string {
  const where = broker.directories.length > 0 ? `data in ${broker.directories.join(', ')}` : 'nothing is kept on disk'
  return `mq-broker is ready on ${broker.bootstrap}, ${where}; try: kcat -b ${broker.bootstrap} -L`
}

function end(code: number, line?: string): void {
  if (line !== undefined) process.stderr.write(line)
  process.exitCode = code
}
