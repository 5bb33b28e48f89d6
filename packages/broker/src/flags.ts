/** The command line of `mq-broker`: flags to a plan, or a usage error. */
import { parseArgs } from 'node:util'
import { LOG_LEVELS, type LogLevel } from './logging.js'
import { parseOverride } from './profile.js'

export const USAGE = `mq-broker [server.properties] [flags]

  --data DIR             where the data is kept (default: ./mq-data, or log.dirs of the file)
  --memory               keep nothing on disk
  --override NAME=VALUE  set one config; may be given many times, and counts last
  --print-config         print the configs that would be set, and end
  --log-level LEVEL      ${LOG_LEVELS.join(', ')} (default: info)
  --help, --version

Without a file the broker listens on localhost:9092 with settings for one node.
With a file the names and defaults of Kafka's server.properties hold.
`

export interface Flags {
  readonly file: string | undefined
  readonly data: string | undefined
  readonly memory: boolean
  readonly overrides: readonly (readonly [string, string])[]
  readonly printConfig: boolean
  readonly logLevel: LogLevel
  readonly help: boolean
  readonly version: boolean
}

/** What the arguments ask for, or one line that says what is wrong with them. */
export function parseFlags(args: readonly string[]): Flags | { readonly wrong: string } {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args)
  } catch (error) {
    return { wrong: (error as Error).message.split('. ')[0]! }
  }
  const { values, positionals } = parsed
  if (positionals.length > 1) return { wrong: `one server.properties at most, and not also ${positionals[1]}` }
  const level = LOG_LEVELS.find((one) => one === (values['log-level'] ?? 'info'))
  if (level === undefined) return { wrong: `--log-level is one of ${LOG_LEVELS.join(', ')}, and not ${values['log-level']}` }
  const overrides: (readonly [string, string])[] = []
  for (const text of values.override ?? []) {
    const override = parseOverride(text)
    if (override === null) return { wrong: `--override takes NAME=VALUE, and not ${text}` }
    overrides.push(override)
  }
  if (values.data !== undefined && values.memory) return { wrong: 'either --data or --memory, not both' }
  return {
    file: positionals[0],
    data: values.data,
    memory: values.memory ?? false,
    overrides,
    printConfig: values['print-config'] ?? false,
    logLevel: level,
    help: values.help ?? false,
    version: values.version ?? false,
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      data: { type: 'string' },
      memory: { type: 'boolean' },
      override: { type: 'string', multiple: true },
      'print-config': { type: 'boolean' },
      'log-level': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
  })
}
