import assert from 'node:assert/strict'
import { join } from 'node:path'
import { MemoryDisk } from './memory-disk.js'
import { InlineOffload, OffloadError } from './offload.js'
import { type Gate, hasBegun, JOBS, newGate, open } from './offload-jobs.test.support.js'
import { Threads, WorkerOffload } from './offload-node.js'
import { DiskError } from './ports.js'
import { nodeTime } from './time-node.js'

const JOBS_FILE = join(__dirname, 'offload-jobs.test.support.js')
/** A thread ends in the test that says so, not before. */
const NEVER = 2 ** 30

const turn = () => new Promise<void>((resume) => setImmediate(resume))

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn()
}

/** Several turns: time for what must not happen. */
async function aWhile(): Promise<void> {
  for (let count = 0; count < 20; count++) await turn()
}

const WAYS = {
  'on the loop': () => new InlineOffload(new MemoryDisk(), nodeTime, JOBS),
  'in threads': () => new WorkerOffload(new Threads({ jobsFile: JOBS_FILE, idleMs: NEVER }), JOBS),
  'in threads that cannot be started': () =>
    new WorkerOffload(new Threads({ threadFile: join(__dirname, 'is-not-there.js'), jobsFile: JOBS_FILE }), JOBS),
}

for (const [way, make] of Object.entries(WAYS)) {
  describe(`long work ${way}`, () => {
    let offload: ReturnType<typeof make>
    let gates: Gate[]

    beforeEach(() => {
      offload = make()
      gates = Array.from({ length: 4 }, newGate)
    })

    afterEach(() => offload.close())

    it('gives the output of a job, and its progress on the way', async () => {
      const seen: number[] = []
      const bytes = Buffer.from('--abc--').subarray(2, 5)
      const output = await offload.run('echo', { bytes, text: 'x' }, { progress: (done) => seen.push(done) })
      assert.equal(Buffer.from(output.bytes).toString(), 'bcd')
      assert.equal(output.text, 'x')
      assert.deepEqual(seen, [1, 2])
      assert.equal(bytes.toString(), 'abc', 'the input stays the caller’s')
    })

    it('runs two at a time, the others in the order in which they came', async () => {
      const ended: number[] = []
      const runs = gates.map((gate, at) => offload.run('waiting', gate).then(() => ended.push(at)))
      await until(() => hasBegun(gates[0]!) && hasBegun(gates[1]!))
      await aWhile()
      assert.deepEqual(gates.map(hasBegun), [true, true, false, false])
      open(gates[1]!)
      await until(() => hasBegun(gates[2]!))
      assert.deepEqual([ended, hasBegun(gates[3]!)], [[1], false])
      open(gates[0]!)
      await until(() => hasBegun(gates[3]!))
      for (const gate of gates) open(gate)
      await Promise.all(runs)
      assert.deepEqual(ended.slice(0, 2), [1, 0])
    })

    it('does not let a request wait for background work', async () => {
      const [first, second, hurried] = gates
      const runs = [offload.run('waiting', first!), offload.run('waiting', second!)]
      await until(() => hasBegun(first!) && hasBegun(second!))
      open(hurried!)
      assert.equal(await offload.run('hurried', hurried!), 'done')
      open(first!)
      open(second!)
      await Promise.all(runs)
    })

    it('rejects with what the job throws, its class kept', async () => {
      await assert.rejects(offload.run('failing', { how: 'disk' }), (error) => {
        assert.ok(error instanceof DiskError)
        assert.deepEqual([error.name, error.code, error.operation, error.path], ['DiskError', 'EIO', 'read', '/data/x'])
        return error.message === 'read /data/x: it is broken' && error.stack!.includes('offload-jobs')
      })
      await assert.rejects(offload.run('failing', { how: 'other' }), { name: 'RangeError', message: 'too far', by: 3 })
      open(gates[0]!)
      assert.equal(await offload.run('waiting', gates[0]!), 'done', 'the next one runs')
    })

    it('cancels a job that runs, and rejects when it has ended', async () => {
      const stop = new AbortController()
      const run = offload.run('waiting', gates[0]!, { signal: stop.signal })
      await until(() => hasBegun(gates[0]!))
      stop.abort(new Error('no more'))
      await assert.rejects(run, { message: 'no more' })
    })

    it('never begins a job that was cancelled while it waited', async () => {
      const stop = new AbortController()
      const runs = [offload.run('waiting', gates[0]!), offload.run('waiting', gates[1]!)]
      const third = offload.run('waiting', gates[2]!, { signal: stop.signal })
      const fourth = offload.run('waiting', gates[3]!)
      stop.abort(new Error('no more'))
      await assert.rejects(third, { message: 'no more' })
      await assert.rejects(offload.run('waiting', gates[2]!, { signal: stop.signal }), { message: 'no more' })
      for (const at of [0, 1, 3]) open(gates[at]!)
      await Promise.all([...runs, fourth])
      assert.equal(hasBegun(gates[2]!), false)
    })

    it('cancels everything when it closes, and takes nothing more', async () => {
      const runs = gates.map((gate) => offload.run('waiting', gate))
      const closed = (error: unknown) => error instanceof OffloadError && error.reason === 'closed'
      const rejections = runs.map((run) => assert.rejects(run, closed))
      await until(() => hasBegun(gates[0]!))
      await offload.close()
      await Promise.all(rejections)
      await assert.rejects(offload.run('waiting', gates[0]!), closed)
      await offload.close()
    })
  })
}

describe('threads for long work', () => {
  const handles = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Worker').length

  it('start when a job comes, are used again, and are gone after the close', async () => {
    const before = handles()
    const threads = new Threads({ jobsFile: JOBS_FILE, idleMs: NEVER })
    const offload = new WorkerOffload(threads, JOBS)
    assert.equal(threads.count, 0)
    await offload.run('echo', { bytes: Buffer.from('a'), text: '' })
    await offload.run('echo', { bytes: Buffer.from('a'), text: '' })
    assert.equal(threads.count, 1)
    await offload.close()
    assert.equal(threads.count, 0)
    assert.equal(handles(), before)
  })

  it('are told of a job that was cancelled before it came to them', async () => {
    const threads = new Threads({ jobsFile: JOBS_FILE, idleMs: NEVER })
    threads.enter()
    const running = { name: 'waiting', input: newGate(), signal: AbortSignal.abort(), progress: () => {} }
    assert.equal(await threads.run(running), 'cancelled')
    await threads.leave()
  })

  it('go when nothing was to be done for a while', async () => {
    const threads = new Threads({ jobsFile: JOBS_FILE, idleMs: 0 })
    const offload = new WorkerOffload(threads, JOBS)
    await offload.run('echo', { bytes: Buffer.from('a'), text: '' })
    await until(() => threads.count === 0)
    assert.equal((await offload.run('echo', { bytes: Buffer.from('a'), text: 'again' })).text, 'again')
    await offload.close()
  })

  for (const how of ['exit', 'throw'] as const) {
    it(`reject the job of a thread that dies by ${how}, and the next job gets a new one`, async () => {
      const threads = new Threads({ jobsFile: JOBS_FILE, idleMs: NEVER })
      const offload = new WorkerOffload(threads, JOBS)
      const died = (error: unknown) => error instanceof OffloadError && error.reason === 'died'
      await assert.rejects(offload.run('dying', { how }), died)
      assert.equal(threads.count, 0)
      assert.equal((await offload.run('echo', { bytes: Buffer.from('a'), text: 'next' })).text, 'next')
      await offload.close()
    })
  }

  it('are shared: two at a time in all, and the last user’s close ends them', async () => {
    const threads = new Threads({ jobsFile: JOBS_FILE, idleMs: NEVER })
    const [one, other] = [new WorkerOffload(threads, JOBS), new WorkerOffload(threads, JOBS)]
    const gates = Array.from({ length: 3 }, newGate)
    const runs = [one.run('waiting', gates[0]!), one.run('waiting', gates[1]!)]
    const third = other.run('waiting', gates[2]!)
    await until(() => hasBegun(gates[0]!) && hasBegun(gates[1]!))
    await aWhile()
    assert.equal(hasBegun(gates[2]!), false)
    for (const gate of gates) open(gate)
    await Promise.all([...runs, third])
    await one.close()
    assert.ok(threads.count > 0)
    await other.close()
    assert.equal(threads.count, 0)
  })
})
