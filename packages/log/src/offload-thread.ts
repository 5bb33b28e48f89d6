/** What runs in a thread of offload-node.ts: one job after another, each on the file system of this machine. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Parcel, parcel, plainError } from './crossing.js'
import { nodeDisk } from './disk-node.js'
import type { JobTable } from './jobs/job.js'
import type { ThreadStart, ThreadTask, ThreadWord } from './offload-node.js'
import { nodeTime } from './time-node.js'

const { JOBS } = require((workerData as ThreadStart).jobsFile) as { readonly JOBS: JobTable }
const port = parentPort!

port.on('message', (task: ThreadTask) => void run(task))
say({ kind: 'ready' })

async function run({ name, input, cancelled }: ThreadTask): Promise<void> {
  try {
    const output = await JOBS[name]!.run(input as never, {
      ...nodeTime,
      disk: nodeDisk,
      isCancelled: () => Atomics.load(cancelled, 0) !== 0,
      progress: (done) => say({ kind: 'progress', done }),
    })
    answer(output)
  } catch (error) {
    say({ kind: 'thrown', error: plainError(error) })
  }
}

function answer(output: unknown): void {
  const post = ({ data, transfer }: Parcel) => port.postMessage({ kind: 'output', output: data } satisfies ThreadWord, transfer)
  try {
    post(parcel(output, 'given'))
  } catch {
    // Memory of native code cannot change hands.
    post(parcel(output, 'copied'))
  }
}

function say(word: ThreadWord): void {
  port.postMessage(word)
}
