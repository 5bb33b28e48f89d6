/** mq consume: prints records as they come, as text or as JSON lines. */

import { randomUUID } from 'node:crypto'
import type { KafkaMessage } from '@mq/client'
import type { Command } from 'commander'
import { commonOptions, kafkaOf, wholeNumber, withAdmin } from '../session'
import type { Terminal } from '../terminal'

interface ConsumeOptions {
  group?: string
  fromBeginning?: boolean
  count?: number
  exitAtEnd?: boolean
  keySeparator?: string
  readUncommitted?: boolean
}

export function consume(program: Command, terminal: Terminal): void {
  program
    .command('consume <topics...>')
    .description('print records as they come; Ctrl-C ends it')
    .option(
      '-g, --group <id>',
      'read as a member of this group and commit (default: a group of its own that is deleted at the end)',
    )
    .option('-f, --from-beginning', 'begin at the first record where the group has no offset')
    .option('-n, --count <number>', 'end after so many records', wholeNumber(1))
    .option('-e, --exit-at-end', 'end when everything that was there at the start has been read')
    .option('-k, --key-separator <text>', 'print keys too, with this between key and value')
    .option('--read-uncommitted', 'also records of open and aborted transactions')
    .action(async (topics: string[], options: ConsumeOptions, self: Command) => {
      const common = commonOptions(self)
      const ownGroup = options.group === undefined
      const groupId = options.group ?? `mq-consume-${randomUUID()}`
      const ends = options.exitAtEnd ? await endsOf(self, topics) : undefined
      const consumer = kafkaOf(common).consumer({
        groupId,
        maxWaitTimeInMs: 500,
        readUncommitted: options.readUncommitted === true,
      })
      let read = 0
      const start = async (finish: () => void): Promise<void> => {
        await consumer.connect()
        await consumer.subscribe({ topics, fromBeginning: options.fromBeginning === true })
        await consumer.run({
          eachMessage: async ({ topic, partition, message }) => {
            if (options.count !== undefined && read >= options.count) return
            read++
            terminal.out(`${lineOf({ topic, partition, message, json: common.json, keySeparator: options.keySeparator })}\n`)
            if (read === options.count) finish()
          },
        })
      }
      const finished = new Promise<void>((resolve, reject) => {
        consumer.on(consumer.events.CRASH, ({ payload }) => {
          const { error, restart } = payload as { error: Error; restart: boolean }
          if (!restart) reject(error)
        })
        consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
          const { topic, partition, lastOffset } = payload as { topic: string; partition: number; lastOffset: string }
          const key = `${topic}-${partition}`
          if (ends !== undefined && Number(lastOffset) + 1 >= (ends.get(key) ?? 0)) ends.delete(key)
          if (ends?.size === 0) resolve()
        })
        void terminal.interrupted.then(resolve)
        if (ends?.size === 0) resolve()
        void start(resolve).catch(reject)
      })
      try {
        await finished
      } finally {
        await consumer.disconnect()
        if (ownGroup) await withAdmin(self, (admin) => admin.deleteGroups([groupId]).catch(() => undefined))
      }
      terminal.error(`${read} records read\n`)
    })
}

/** Partitions that hold something now, with the offset after their last record. */
async function endsOf(self: Command, topics: string[]): Promise<Map<string, number>> {
  return withAdmin(self, async (admin) => {
    const ends = new Map<string, number>()
    for (const topic of topics)
      for (const { partition, high, low } of await admin.fetchTopicOffsets(topic))
        if (Number(high) > Number(low)) ends.set(`${topic}-${partition}`, Number(high))
    return ends
  })
}

function lineOf({
  topic,
  partition,
  message,
  json,
  keySeparator,
}: {
  topic: string
  partition: number
  message: KafkaMessage
  json: boolean
  keySeparator: string | undefined
}): string {
  const text = (bytes: Buffer | null): string | null => (bytes === null ? null : bytes.toString())
  if (json)
    return JSON.stringify({
      topic,
      partition,
      offset: Number(message.offset),
      timestamp: Number(message.timestamp),
      key: text(message.key),
      value: text(message.value),
      headers: Object.fromEntries(
        Object.entries(message.headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.map(String) : value === null || value === undefined ? null : String(value),
        ]),
      ),
    })
  const value = text(message.value) ?? 'null'
  return keySeparator === undefined ? value : `${text(message.key) ?? 'null'}${keySeparator}${value}`
}
