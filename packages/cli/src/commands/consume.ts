/** mq consume: prints records as they come, as text or as JSON lines. */

import { randomUUID } from 'node:crypto'
import type { Consumer, KafkaMessage } from '@mq/client'
import type { Command } from 'commander'
import { commonOptions, connect, kafkaOf, wholeNumber, withAdmin } from '../session.js'
import type { Terminal } from '../terminal.js'

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
      const groupId = options.group ?? `mq-consume-${randomUUID()}`
      const ends = options.exitAtEnd ? await endsOf(self, topics, options) : undefined
      let read = 0
      if (ends === undefined || ends.size > 0) {
        const consumer = kafkaOf(common).consumer({
          groupId,
          maxWaitTimeInMs: 500,
          readUncommitted: options.readUncommitted === true,
          allowAutoTopicCreation: false,
        })
        let hasGroup = false
        try {
          await connect(consumer, common)
          await consumer.subscribe({ topics, fromBeginning: options.fromBeginning === true })
          hasGroup = options.group === undefined
          const ended = endOf(consumer, ends)
          const counted = new Promise<void>((resolve) => {
            void consumer
              .run({
                eachMessage: async ({ topic, partition, message }) => {
                  if (options.count !== undefined && read >= options.count) return
                  read++
                  const { json } = common
                  terminal.out(`${lineOf({ topic, partition, message, json, keySeparator: options.keySeparator })}\n`)
                  // Stopping here commits this record as the last: those behind it stay for the group's next reader.
                  if (read === options.count) void consumer.stop().then(resolve)
                },
              })
              .catch(() => {})
          })
          await Promise.race([ended, counted, terminal.interrupted()])
        } finally {
          await consumer.disconnect()
          if (hasGroup) await withAdmin(self, (admin) => admin.deleteGroups([groupId]).catch(() => undefined))
        }
      }
      terminal.error(`${read} records read\n`)
    })
}

/** Resolves when everything up to `ends` has been read; rejects when the consumer crashes for good. */
function endOf(consumer: Consumer, ends: Map<string, number> | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
      if (!restart) reject(error)
    })
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { topic, partition, lastOffset } }) => {
      const key = `${topic}-${partition}`
      if (ends !== undefined && Number(lastOffset) + 1 >= (ends.get(key) ?? 0)) ends.delete(key)
      if (ends?.size === 0) resolve()
    })
  })
}

/** Partitions in which something is to be read before the present end, with that end. */
async function endsOf(self: Command, topics: string[], { group, fromBeginning }: ConsumeOptions): Promise<Map<string, number>> {
  return withAdmin(self, async (admin) => {
    const ends = new Map<string, number>()
    for (const topic of topics) {
      const stored = group === undefined ? [] : await admin.fetchOffsets({ groupId: group, topics: [topic] })
      const committed = new Map(
        stored.flatMap(({ partitions }) => partitions.map((each) => [each.partition, Number(each.offset)])),
      )
      for (const { partition, high, low } of await admin.fetchTopicOffsets(topic)) {
        const at = committed.get(partition) ?? -1
        const start = at >= 0 ? at : fromBeginning ? Number(low) : Number(high)
        if (start < Number(high)) ends.set(`${topic}-${partition}`, Number(high))
      }
    }
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
