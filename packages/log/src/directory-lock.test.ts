import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { lockDirectory, unlockDirectory } from './directory-lock.js'
import { nodeDisk, nodeProcesses, startedAt } from './disk-node.js'
import { MemoryDisk } from './memory-disk.js'
import { nodeEnvironment } from './node-environment.js'
import type { ProcessIdentity } from './ports.js'

/** A process that is gone by now. */
const gone = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', ''])
    child.on('error', reject)
    child.on('close', () => resolve(child.pid!))
  })

describe('the lock of a log directory, among real processes', function () {
  this.timeout(60_000)
  const folder = mkdtempSync(join(tmpdir(), 'mq-lock-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  const lock = (path: string) => lockDirectory(nodeEnvironment, path)

  it('is held by a live process and free when its owner is gone', async () => {
    const { self } = nodeProcesses
    assert.equal(nodeProcesses.isRunning(self), true)
    assert.equal(nodeProcesses.isRunning({ pid: await gone(), startedAt: '' }), false)
    if (self.startedAt !== '')
      assert.equal(nodeProcesses.isRunning({ pid: self.pid, startedAt: '1' }), false, 'another process had that number')
    const path = join(folder, '.lock')
    writeFileSync(path, `${process.ppid} \n`)
    assert.equal(await lock(folder), `process ${process.ppid}`)
    writeFileSync(path, `${await gone()} \n`)
    assert.equal(await lock(folder), null)
    assert.equal(nodeDisk.readFileNow(path).toString(), `${self.pid} ${self.startedAt}\n`)
    assert.equal(await lock(`${folder}/`), 'another broker in this process')
    unlockDirectory(nodeDisk, folder)
    assert.equal(nodeDisk.readFileNow(path).length, 0)
  })

  it('knows a process by when it began, on Linux and on macOS', () => {
    assert.equal(startedAt(process.pid, 'linux'), nodeProcesses.self.startedAt)
    const said = startedAt(process.pid, 'darwin')
    if (said === '') return // a machine without ps: a process is known by its number alone
    assert.match(said, /^\d+$/)
    assert.equal(startedAt(process.pid, 'darwin'), said)
    assert.equal(startedAt(2 ** 22 + 1, 'darwin'), '')
  })

  it('left by an earlier broker of this very process does not stand in the way', async () => {
    const { self } = nodeProcesses
    writeFileSync(join(folder, '.lock'), `${self.pid} ${self.startedAt}\n`)
    assert.equal(await lock(folder), null)
    unlockDirectory(nodeDisk, folder)
  })

  describe('that reach for it in the same instant', () => {
    const STARTERS = 8
    const ROUNDS = 20
    const SOON_MS = 30
    let starters: { readonly child: ChildProcess; readonly lines: AsyncIterator<string>; readonly reader: Interface }[]

    before(() => {
      starters = Array.from({ length: STARTERS }, () => {
        const child = spawn(process.execPath, [join(__dirname, 'lock-child.test.support.js')], {
          stdio: ['pipe', 'pipe', 'inherit'],
        })
        const reader = createInterface({ input: child.stdout! })
        return { child, reader, lines: reader[Symbol.asyncIterator]() }
      })
    })
    after(() => {
      for (const { child } of starters) child.kill('SIGKILL')
    })

    const tell = async ({ child, lines }: (typeof starters)[number], line: string): Promise<string> => {
      child.stdin!.write(`${line}\n`)
      return (await lines.next()).value
    }
    /** What each of them says. */
    const race = (path: string, who = starters) => {
      const at = Date.now() + SOON_MS
      return Promise.all(who.map((starter) => tell(starter, `${path} ${at}`)))
    }
    const winners = (said: readonly string[]) => said.flatMap((what, at) => (what === 'got it' ? [at] : []))

    it(`gives it to one of ${STARTERS}, ${ROUNDS} times, whatever was left there`, async () => {
      const dead = await gone()
      const LEFT: Record<string, string>[] = [
        {},
        { '.lock': '' },
        { '.lock': `${dead} 77\n` },
        { '.lock': `${dead} 77\n`, [`.lock-${dead}-77`]: '' },
      ]
      for (let round = 0; round < ROUNDS; round++) {
        const path = join(folder, `round-${round}`)
        mkdirSync(path)
        for (const [name, text] of Object.entries(LEFT[round % LEFT.length]!)) writeFileSync(join(path, name), text)
        const said = await race(path)
        const [winner, ...more] = winners(said)
        assert.ok(winner !== undefined && more.length === 0, `round ${round}: ${said}`)
        const { pid } = starters[winner]!.child
        assert.match(readFileSync(join(path, '.lock'), 'latin1'), new RegExp(`^${pid} `))
        assert.deepEqual(readdirSync(path), ['.lock'], 'no claim is left')
        for (const what of said) assert.match(what, /^(got it|process \d+)$/)
        await tell(starters[winner]!, `free ${path}`)
      }
    })

    it('gives it to one of those that are left when the holder was killed', async () => {
      const path = join(folder, 'killed')
      mkdirSync(path)
      for (let left = [...starters]; left.length > STARTERS - 4; ) {
        const said = await race(path, left)
        const [winner, ...more] = winners(said)
        assert.ok(winner !== undefined && more.length === 0, `${said}`)
        const { child } = left[winner]!
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await ended
        left = left.filter((starter) => starter.child !== child)
      }
    })
  })
})

describe('the claims on a log directory', () => {
  const me = { pid: 5, startedAt: '50' }
  const locking = (disk: MemoryDisk, living: readonly ProcessIdentity[], now = () => 0) => ({
    disk,
    clock: { monotonic: now },
    processes: {
      self: me,
      isRunning: ({ pid }: ProcessIdentity) => living.some((each) => each.pid === pid),
      holdsAdvisoryLock: () => false,
    },
  })
  const made = (...names: string[]) => {
    const disk = new MemoryDisk()
    disk.makeDirectoryNow('/data')
    for (const name of names) disk.openNow(`/data/${name}`, 'create').closeNow()
    return disk
  }
  const names = (disk: MemoryDisk) => disk.listNow('/data').map(({ name }) => name)

  it('of the dead count for nothing and go', async () => {
    const disk = made('.lock-3-30', '.lock-9-90')
    assert.equal(await lockDirectory(locking(disk, []), '/data'), null)
    assert.deepEqual(names(disk), ['.lock'])
  })

  it('whose names come first win', async () => {
    const disk = made('.lock-3-30')
    assert.equal(await lockDirectory(locking(disk, [{ pid: 3, startedAt: '30' }]), '/data'), 'process 3')
    assert.deepEqual(names(disk), ['.lock-3-30'])
  })

  it('whose names come last are waited for: their owner may have looked before', async () => {
    const disk = made('.lock-9-90')
    const other = { pid: 9, startedAt: '90' }
    let looks = 0
    disk.delays = () => {
      looks++
      if (looks === 3) {
        const file = disk.openNow('/data/.lock', 'create')
        file.writevNow([Buffer.from('9 90\n')], 0)
        file.closeNow()
        disk.removeNow('/data/.lock-9-90')
      }
      return undefined
    }
    assert.equal(await lockDirectory(locking(disk, [other]), '/data'), 'process 9')
    assert.deepEqual([looks, names(disk)], [3, ['.lock']])
  })

  it('that stay are of a process that was stopped: nobody waits for ever', async () => {
    const disk = made('.lock-9-90')
    let now = 0
    const clock = () => (now += 1000)
    assert.equal(await lockDirectory(locking(disk, [{ pid: 9, startedAt: '90' }], clock), '/data'), 'process 9')
    assert.deepEqual(names(disk), ['.lock-9-90'])
  })
})
