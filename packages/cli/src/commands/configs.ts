/** mq configs: describe and set configs of topics; describe those of brokers. */

import { ConfigResourceTypes } from '@mq/client'
import { type Command, Option } from 'commander'
import { nameValue, withAdmin } from '../session.js'
import { printTable, type Terminal } from '../terminal.js'

const KINDS = { topic: ConfigResourceTypes.TOPIC, broker: ConfigResourceTypes.BROKER } as const
const SOURCES: Record<number, string> = {
  1: 'topic',
  2: 'dynamic broker',
  3: 'dynamic default',
  4: 'static broker',
  5: 'default',
  6: 'logger',
}

export function configs(program: Command, terminal: Terminal): void {
  const command = program.command('configs').description('describe and set configs')

  command
    .command('describe <name>')
    .description('configs of a topic, or of a broker by its id')
    .addOption(new Option('-t, --type <kind>', 'what <name> is').choices(Object.keys(KINDS)).default('topic'))
    .option('--all', 'also those that have their default')
    .action(async (name: string, options: { type: keyof typeof KINDS; all?: boolean }, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        const { resources } = await admin.describeConfigs({ resources: [{ type: KINDS[options.type], name }] })
        const rows = resources[0]!.configEntries
          .filter(({ isDefault }) => options.all || !isDefault)
          .map(({ configName, configValue, configSource, isSensitive }) => ({
            name: configName,
            value: isSensitive ? '(hidden)' : configValue,
            source: SOURCES[configSource] ?? '-',
          }))
        printTable(terminal, { json, rows, columns: ['name', 'value', 'source'] })
      })
    })

  command
    .command('set')
    .argument('<topic>')
    .argument('<name=value...>', 'configs and their values', nameValue)
    .description("set configs of a topic; the topic's other configs stay")
    .action(async (topic: string, wanted: { name: string; value: string }[], _options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        await admin.incrementalAlterConfigs({
          resources: [
            { type: KINDS.topic, name: topic, configEntries: wanted.map((each) => ({ ...each, operation: 'set' as const })) },
          ],
        })
        printTable(terminal, { json, rows: wanted, columns: ['name', 'value'] })
      })
    })

  command
    .command('unset <topic> <names...>')
    .description('give configs of a topic their default again')
    .action(async (topic: string, names: string[], _options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        await admin.incrementalAlterConfigs({
          resources: [
            {
              type: KINDS.topic,
              name: topic,
              configEntries: names.map((name) => ({ name, value: null, operation: 'delete' as const })),
            },
          ],
        })
        printTable(terminal, { json, rows: names.map((name) => ({ unset: name })), columns: ['unset'] })
      })
    })
}
