/** mq topics: list, create, describe, delete, add partitions. */

import type { Command } from 'commander'
import { nameValue, wholeNumber, withAdmin } from '../session.js'
import { printTable, type Terminal } from '../terminal.js'

export function topics(program: Command, terminal: Terminal): void {
  const command = program.command('topics').description('list, create, describe, delete topics; add partitions')

  command
    .command('list')
    .description('names of all topics')
    .action(async (_options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        const rows = (await admin.listTopics()).sort().map((topic) => ({ topic }))
        printTable(terminal, { json, rows, columns: ['topic'] })
      })
    })

  command
    .command('create <topic>')
    .description('create a topic')
    .option('-p, --partitions <count>', "partitions (default: the broker's num.partitions)", wholeNumber(1))
    .option('-r, --replication-factor <count>', "replicas of each partition (default: the broker's)", wholeNumber(1))
    .option('-c, --config <name=value>', 'a config of the topic; may be repeated', nameValue)
    .option('--if-not-exists', 'succeed when the topic exists already')
    .action(
      async (
        topic: string,
        options: {
          partitions?: number
          replicationFactor?: number
          config?: { name: string; value: string }[]
          ifNotExists?: boolean
        },
        self: Command,
      ) => {
        await withAdmin(self, async (admin, { json }) => {
          const created = await admin.createTopics({
            topics: [
              {
                topic,
                numPartitions: options.partitions ?? -1,
                replicationFactor: options.replicationFactor ?? -1,
                configEntries: options.config ?? [],
              },
            ],
          })
          if (!created && !options.ifNotExists)
            throw new Error(`the topic "${topic}" exists already (use --if-not-exists to accept that)`)
          terminal.out(json ? `${JSON.stringify({ topic, created })}\n` : `${created ? 'created' : 'exists'} ${topic}\n`)
        })
      },
    )

  command
    .command('describe [topics...]')
    .description('partitions, leaders and replicas of the named topics, or of all')
    .action(async (names: string[], _options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        const described = await admin.fetchTopicMetadata({ topics: names })
        const rows = described.topics.flatMap(({ name, partitions }) =>
          partitions.map(({ partitionId, leader, replicas, isr }) => ({
            topic: name,
            partition: partitionId,
            leader,
            replicas,
            isr,
          })),
        )
        rows.sort((one, other) =>
          one.topic === other.topic ? one.partition - other.partition : one.topic < other.topic ? -1 : 1,
        )
        printTable(terminal, { json, rows, columns: ['topic', 'partition', 'leader', 'replicas', 'isr'] })
      })
    })

  command
    .command('delete <topics...>')
    .description('delete topics with all their records')
    .action(async (names: string[], _options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        await admin.deleteTopics({ topics: names })
        printTable(terminal, { json, rows: names.map((topic) => ({ deleted: topic })), columns: ['deleted'] })
      })
    })

  command
    .command('add-partitions')
    .argument('<topic>')
    .argument('<count>', 'how many it then has', wholeNumber(1))
    .description('raise the number of partitions to <count>')
    .action(async (topic: string, count: number, _options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        await admin.createPartitions({ topicPartitions: [{ topic, count }] })
        printTable(terminal, { json, rows: [{ topic, partitions: count }], columns: ['topic', 'partitions'] })
      })
    })
}
