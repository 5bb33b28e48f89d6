/** A client for one command: made from the common options, closed when the command ends, whatever happens. */

import { type Admin, Kafka, logLevel } from '@mq/client'
import { type Command, InvalidArgumentError } from 'commander'

export interface CommonOptions {
  readonly brokers: string[]
  readonly json: boolean
}

export function commonOptions(command: Command): CommonOptions {
  const { bootstrapServer, json } = command.optsWithGlobals<{ bootstrapServer: string[]; json?: boolean }>()
  return { brokers: bootstrapServer, json: json === true }
}

/** Parses a list of addresses; what they look like in detail the client says. */
export function addresses(text: string): string[] {
  const list = text.split(',').map((each) => each.trim())
  if (list.some((each) => each === '')) throw new InvalidArgumentError('expected host:port, or several with commas between them.')
  return list
}

export function kafkaOf({ brokers }: CommonOptions): Kafka {
  return new Kafka({ brokers, clientId: 'mq-cli', logLevel: logLevel.NOTHING, retry: { retries: 3 } })
}

/** Connects, or says in one line which brokers did not answer. */
export async function connect(client: { connect(): Promise<void> }, { brokers }: CommonOptions): Promise<void> {
  await client.connect().catch((error: Error) => {
    throw new Error(
      `cannot reach a broker at ${brokers.join(', ')}: ${error.message}. Is it running? Use --bootstrap-server to name another.`,
    )
  })
}

export async function withAdmin<Result>(
  command: Command,
  work: (admin: Admin, options: CommonOptions) => Promise<Result>,
): Promise<Result> {
  const options = commonOptions(command)
  const admin = kafkaOf(options).admin()
  await connect(admin, options)
  try {
    return await work(admin, options)
  } finally {
    await admin.disconnect()
  }
}

/** Parses an option that must be a whole number of at least `least`. */
export const wholeNumber =
  (least: number) =>
  (text: string): number => {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < least)
      throw new InvalidArgumentError(`expected a whole number of at least ${least}.`)
    return value
  }

/** Collects `name=value` options. */
export function nameValue(text: string, before: { name: string; value: string }[] = []): { name: string; value: string }[] {
  const split = text.indexOf('=')
  if (split < 1) throw new InvalidArgumentError('expected name=value.')
  return [...before, { name: text.slice(0, split), value: text.slice(split + 1) }]
}
