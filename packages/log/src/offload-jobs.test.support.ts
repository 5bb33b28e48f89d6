/** Jobs for the tests of the offload, also in a thread: they wait for a gate, throw, or end their thread. */
import type { JobContext } from './jobs/job.js'
import { DiskError } from './ports.js'

/** Shared with the thread, so that a test sees and moves a job on without waiting for a time to pass. */
export interface Gate {
  /** [0] is set to 1 by the job when it begins, [1] by the test when it may end. */
  readonly shared: Int32Array
}

export const newGate = (): Gate => ({ shared: new Int32Array(new SharedArrayBuffer(8)) })
export const hasBegun = ({ shared }: Gate): boolean => Atomics.load(shared, 0) === 1
export const open = ({ shared }: Gate): void => void Atomics.store(shared, 1, 1)

async function waiting({ shared }: Gate, { isCancelled }: JobContext<unknown>): Promise<string> {
  Atomics.store(shared, 0, 1)
  while (Atomics.load(shared, 1) === 0 && !isCancelled()) await new Promise((resume) => setImmediate(resume))
  return isCancelled() ? 'cancelled' : 'done'
}

export const JOBS = {
  waiting: { lane: 'background', run: waiting },
  hurried: { lane: 'request', run: waiting },
  echo: {
    lane: 'background',
    run: async (input: { readonly bytes: Uint8Array; readonly text: string }, { progress }: JobContext<number>) => {
      progress(1)
      progress(2)
      return { ...input, bytes: input.bytes.map((byte) => byte + 1) }
    },
  },
  failing: {
    lane: 'background',
    run: async ({ how }: { readonly how: 'disk' | 'other' }): Promise<void> => {
      if (how === 'disk') throw new DiskError('EIO', 'read', '/data/x', 'it is broken')
      throw Object.assign(new RangeError('too far'), { by: 3 })
    },
  },
  dying: {
    lane: 'background',
    run: async ({ how }: { readonly how: 'exit' | 'throw' }): Promise<void> => {
      if (how === 'exit') process.exit(3)
      setImmediate(() => {
        throw new Error('out of the blue')
      })
      await new Promise(() => {})
    },
  },
} as const
