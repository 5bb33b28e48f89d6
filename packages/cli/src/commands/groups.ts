/** mq groups: list, describe with lag, delete, reset offsets. */

import { type Admin, type GroupDescriptions, KafkaJSDeleteGroupsError } from '@mq/client'
import { type Command, Option } from 'commander'
import { wholeNumber, withAdmin } from '../session.js'
import { printTable, type Terminal } from '../terminal.js'

export function groups(program: Command, terminal: Terminal): void {
  const command = program
    .command('groups')
    .description('list and describe groups, their members and lag; reset or delete their offsets')

  command
    .command('list')
    .description('all groups')
    .action(async (_options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        const { groups: listed } = await admin.listGroups()
        const { groups: described } = await admin.describeGroups(listed.map(({ groupId }) => groupId))
        const rows = described.map(({ groupId, state, protocolType, members }) => ({
          group: groupId,
          state,
          type: protocolType,
          members: members.length,
        }))
        printTable(terminal, { json, rows, columns: ['group', 'state', 'type', 'members'] })
      })
    })

  command
    .command('describe <group>')
    .description('committed offsets and lag of a group')
    .action(async (groupId: string, _options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        await groupOf(admin, groupId)
        const rows = await lagOf(admin, groupId)
        printTable(terminal, { json, rows, columns: ['topic', 'partition', 'committed', 'end', 'lag'] })
      })
    })

  command
    .command('members <group>')
    .description('members of a group')
    .action(async (groupId: string, _options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        const rows = (await groupOf(admin, groupId)).members.map(({ memberId, clientId, clientHost }) => ({
          member: memberId,
          client: clientId,
          host: clientHost,
        }))
        printTable(terminal, { json, rows, columns: ['member', 'client', 'host'] })
      })
    })

  command
    .command('delete <groups...>')
    .description('delete groups that have no members')
    .action(async (groupIds: string[], _options: object, self: Command) => {
      await withAdmin(self, async (admin, { json }) => {
        const refused = await refusedDeletions(admin, groupIds)
        const deleted = groupIds.filter((groupId) => !refused.some((each) => each.groupId === groupId))
        if (deleted.length > 0)
          printTable(terminal, { json, rows: deleted.map((group) => ({ deleted: group })), columns: ['deleted'] })
        if (refused.length > 0)
          throw new AggregateError(
            refused.map(({ groupId, error }) => new Error(`the group "${groupId}" was not deleted: ${error.message}`)),
          )
      })
    })

  command
    .command('reset-offsets <group> <topic>')
    .description('move the committed offsets of a group without members')
    .addOption(new Option('--to <where>', 'earliest or latest').choices(['earliest', 'latest']))
    .option('--to-offset <offset>', 'this offset in every partition', wholeNumber(0))
    .option('--to-timestamp <ms>', 'the first record at or after this time (ms since 1970)', wholeNumber(0))
    .option('--dry-run', 'only print what would be set')
    .action(
      async (
        groupId: string,
        topic: string,
        options: { to?: 'earliest' | 'latest'; toOffset?: number; toTimestamp?: number; dryRun?: boolean },
        self: Command,
      ) => {
        const chosen = [options.to, options.toOffset, options.toTimestamp].filter((each) => each !== undefined)
        if (chosen.length !== 1) self.error('error: exactly one of --to, --to-offset and --to-timestamp is needed')
        await withAdmin(self, async (admin, { json }) => {
          const ends = await admin.fetchTopicOffsets(topic)
          const byTime =
            options.toTimestamp === undefined ? [] : await admin.fetchTopicOffsetsByTimestamp(topic, options.toTimestamp)
          const partitions = ends.map(({ partition, high, low }) => {
            const wanted =
              options.to === 'earliest'
                ? low
                : options.to === 'latest'
                  ? high
                  : options.toOffset !== undefined
                    ? String(Math.min(Math.max(options.toOffset, Number(low)), Number(high)))
                    : byTime.find((each) => each.partition === partition)!.offset
            return { partition, offset: wanted }
          })
          if (!options.dryRun) await admin.setOffsets({ groupId, topic, partitions })
          printTable(terminal, {
            json,
            rows: partitions.map((each) => ({ topic, ...each })),
            columns: ['topic', 'partition', 'offset'],
          })
        })
      },
    )
}

/** Rejects where there is no such group: an empty table would look like one that is up to date. */
async function groupOf(admin: Admin, groupId: string): Promise<GroupDescriptions['groups'][number]> {
  const { groups: described } = await admin.describeGroups([groupId])
  const group = described[0]!
  if (group.state === 'Dead') throw new Error(`there is no group "${groupId}" (mq groups list names those there are)`)
  return group
}

async function refusedDeletions(admin: Admin, groupIds: string[]): Promise<KafkaJSDeleteGroupsError['groups']> {
  try {
    await admin.deleteGroups(groupIds)
    return []
  } catch (error) {
    if (error instanceof KafkaJSDeleteGroupsError) return error.groups
    throw error
  }
}

async function lagOf(admin: Admin, groupId: string) {
  const committed = await admin.fetchOffsets({ groupId })
  const rows = []
  for (const { topic, partitions } of committed) {
    const ends = new Map((await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => [partition, Number(high)]))
    for (const { partition, offset } of partitions) {
      const end = ends.get(partition) ?? null
      const at = Number(offset) < 0 ? null : Number(offset)
      rows.push({ topic, partition, committed: at, end, lag: end === null || at === null ? null : end - at })
    }
  }
  return rows.sort((one, other) =>
    one.topic === other.topic ? one.partition - other.partition : one.topic < other.topic ? -1 : 1,
  )
}
