/** The command `mq`: its options, its list of commands, and what its exit codes mean. One file per command in commands/. */

import { Command, CommanderError, Option } from 'commander'
import { configs } from './commands/configs.js'
import { consume } from './commands/consume.js'
import { dump } from './commands/dump.js'
import { groups } from './commands/groups.js'
import { log } from './commands/log.js'
import { metadata } from './commands/metadata.js'
import { produce } from './commands/produce.js'
import { topics } from './commands/topics.js'
import { addresses } from './session.js'
import type { Terminal } from './terminal.js'

/** 0: done. 1: it failed. 2: the command line is wrong. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const

const COMMANDS = [topics, produce, consume, groups, configs, metadata, log, dump]

export function programOf(terminal: Terminal, version: string): Command {
  const program = new Command('mq')
    .description('Topics, records, groups and configs of a Kafka cluster, and the files of a broker')
    .version(version)
    .addOption(
      new Option('-b, --bootstrap-server <host:port,…>', 'brokers to ask first')
        .env('MQ_BOOTSTRAP_SERVER')
        .argParser(addresses)
        .default(['localhost:9092'], 'localhost:9092'),
    )
    .option('--json', 'print JSON instead of text')
    .showHelpAfterError('(mq --help lists the commands)')
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.error(text) })
  for (const add of COMMANDS) add(program, terminal)
  for (const command of everyCommand(program))
    command.exitOverride().configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.error(text) })
  return program
}

function everyCommand(command: Command): Command[] {
  return command.commands.flatMap((each) => [each as Command, ...everyCommand(each as Command)])
}

/** Runs one command line; answers the exit code and never throws. */
export async function run(argv: readonly string[], terminal: Terminal, version: string): Promise<number> {
  try {
    await programOf(terminal, version).parseAsync([...argv], { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    const failure = error as Error & { errors?: Error[] }
    for (const each of failure.errors ?? [failure]) terminal.error(`mq: ${each.message}${placeOf(each)}\n`)
    return EXIT.failed
  }
}

/** The topic that an error, or what caused it, is about, where the client knows it and the message does not say it. */
function placeOf(error: Error): string {
  let at: unknown = error
  for (let depth = 0; depth < 10 && at instanceof Error; depth++) {
    const { topic } = at as { topic?: unknown }
    if (typeof topic === 'string') return error.message.includes(topic) ? '' : ` (topic "${topic}")`
    at = at.cause
  }
  return ''
}
