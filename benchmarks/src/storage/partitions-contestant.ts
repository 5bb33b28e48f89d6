/** The contestant of `bench:partitions`: opens a log directory, uses all that is in it, says what it costs. */

import { closeSync, mkdirSync, openSync, readdirSync, readlinkSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type BrokerLogDirectories, DEFAULT_TOPIC_CONFIG, LogDirectories, nodeEnvironment, type PartitionLog } from '@mq/log'
import { residentBytesOf } from '../process-usage.js'
import { asSent } from './batches.js'
import { smallBatch } from './many-partitions.js'
import { obey } from './orders.js'
import { beginUsage, type Usage } from './usage.js'

const [, , dir] = process.argv
const LOOKS = 20

let directories: BrokerLogDirectories
let logs: PartitionLog[] = []
const batches = Array.from({ length: 256 }, smallBatch)
const OPTIONS = { origin: 'client', leaderEpoch: 0 } as const

/** Descriptors of files in the directory, as the system counts them. */
function handles(): number {
  let count = 0
  for (const fd of readdirSync('/proc/self/fd'))
    try {
      if (readlinkSync(`/proc/self/fd/${fd}`).startsWith(dir!)) count++
    } catch {
      // It was the one that read the folder.
    }
  return count
}

/** With `look` the open files are counted now and then, which takes longer than the work does. */
async function toEach([times, look]: string[], work: (log: PartitionLog, number: number) => unknown) {
  const count = Number(times)
  let mostHandles = 0
  const usage = beginUsage()
  for (let at = 0; at < count; at++) {
    const done = work(logs[at % logs.length]!, at)
    if (done instanceof Promise) await done
    if (look === 'look' && at % Math.ceil(count / LOOKS) === 0) mostHandles = Math.max(mostHandles, handles())
  }
  return { ...usage(count, 0), handles: mostHandles }
}

/** What the kernel's part costs: the same bytes at the end of each of so many files in turn, and nothing else. */
class BareFiles {
  readonly #files: { readonly fd: number; end: number }[]
  #turn = 0

  constructor(
    readonly folder: string,
    count: number,
  ) {
    mkdirSync(folder)
    this.#files = Array.from({ length: count }, (_, file) => ({ fd: openSync(join(folder, `${file}`), 'w'), end: 0 }))
  }

  write(times: number): Usage {
    const usage = beginUsage()
    for (let at = 0; at < times; at++) {
      const file = this.#files[this.#turn++ % this.#files.length]!
      file.end += writeSync(file.fd, batches[at % batches.length]!, 0, batches[0]!.length, file.end)
    }
    return usage(times, 0)
  }

  close(): void {
    for (const { fd } of this.#files) closeSync(fd)
    rmSync(this.folder, { recursive: true })
  }
}

let bare: BareFiles | undefined

void obey({
  bareOpen(folder, count) {
    bare = new BareFiles(folder!, Number(count))
    return { opened: Number(count) }
  },
  bareWrite: (times) => bare!.write(Number(times)),
  bareClose() {
    bare!.close()
    return {}
  },

  async open(openFilesLimit) {
    const end = beginUsage()
    directories = await LogDirectories.open({
      ...nodeEnvironment,
      dirs: [dir!],
      brokerId: 1,
      clusterId: 'bench',
      topicConfig: () => DEFAULT_TOPIC_CONFIG,
      tailCacheBytes: 64 * 1024,
      openFilesLimit: Number(openFilesLimit),
    })
    logs = [...directories.all()]
    return { ...end(logs.length, 0), handles: handles(), residentMb: residentBytesOf(process.pid) / 1e6 }
  },

  append: (...words) =>
    toEach(words, (log, at) => {
      const outcome = log.append(asSent(batches[at % batches.length]!), OPTIONS)
      if (!(outcome instanceof Promise) && outcome.kind !== 'appended') throw new Error(outcome.message)
      return outcome
    }),

  /** From the start of each log: nothing of it is in memory. */
  read: (...words) =>
    toEach(words, (log) => log.read(log.logStartOffset, { maxBytes: 4096, minOneMessage: true, upTo: 'logEnd' })),

  /** From the last record on, which is in memory. */
  tail: (...words) =>
    toEach(words, (log) => log.read(log.logEndOffset - 1, { maxBytes: 4096, minOneMessage: true, upTo: 'logEnd' })),

  /** Until the only log has so many segments. */
  async segments(count) {
    while (logs[0]!.segmentViews().length < Number(count)) {
      await logs[0]!.append(asSent(batches[0]!), OPTIONS)
      await logs[0]!.roll()
    }
    return { segments: logs[0]!.segmentViews().length }
  },

  memory: () => ({ residentMb: residentBytesOf(process.pid) / 1e6 }),
  close: async () => {
    const end = beginUsage()
    await directories.close()
    return end(logs.length, 0)
  },
})
