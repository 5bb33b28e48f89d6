/**
 * A process that appends until it is killed: the other half of kill.test.ts. Says on stdout what was answered, one offset a line.
 * Arguments: the data directory, and the first value to write.
 */
import { writeSync } from 'node:fs'
import { nodeDisk, nodeProcesses } from './disk-node.js'
import { batch, PARTITION, TOPIC_ID } from './log.test.support.js'
import { LogDirectories } from './log-directories.js'
import { seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

const CONFIG = { ...DEFAULT_TOPIC_CONFIG, 'segment.bytes': 20_000, 'index.interval.bytes': 500, 'segment.index.bytes': 4096 }

async function main(): Promise<void> {
  const [folder, first] = process.argv.slice(2)
  const directories = await LogDirectories.open({
    dirs: [folder!],
    disk: nodeDisk,
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    timers: { after: () => () => {} },
    random: seededRandom(Number(first)),
    processes: nodeProcesses,
    brokerId: 1,
    clusterId: 'cluster',
    topicConfig: () => CONFIG,
  })
  const log = directories.get(PARTITION) ?? (await directories.create(PARTITION, TOPIC_ID, CONFIG))
  for (let value = Number(first); ; value++) {
    const padding = 'x'.repeat(value % 7 === 0 ? 3000 : 20)
    const records = batch({ values: [`${value} ${padding}`], producerId: 1, producerEpoch: 0, baseSequence: value })
    const outcome = await log.append(records, { origin: 'client', leaderEpoch: 0 })
    if (outcome.kind === 'refused') throw new Error(`${outcome.error}: ${outcome.message}`)
    writeSync(1, `${outcome.firstOffset}\n`)
    if (value % 50 === 0) void log.flush()
    if (value % 130 === 0) await directories.checkpointAll()
    if (value % 20 === 0) await new Promise((resume) => setImmediate(resume))
  }
}

if (require.main === module) void main()
