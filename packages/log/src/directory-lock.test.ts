import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDirectory, unlockDirectory } from './directory-lock.js'
import { nodeDisk, nodeProcesses } from './disk-node.js'

describe('the lock of a log directory, among real processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mq-lock-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** A process that is gone by now. */
  const gone = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, ['-e', ''])
      child.on('error', reject)
      child.on('close', () => resolve(child.pid!))
    })

  it('is held by a live process and free when its owner is gone', async function () {
    this.timeout(30_000)
    const { self } = nodeProcesses
    assert.equal(nodeProcesses.isRunning(self), true)
    assert.equal(nodeProcesses.isRunning({ pid: await gone(), startedAt: '' }), false)
    if (self.startedAt !== '')
      assert.equal(nodeProcesses.isRunning({ pid: self.pid, startedAt: '1' }), false, 'another process had that number')
    const path = join(folder, '.lock')
    writeFileSync(path, `${process.ppid} \n`)
    assert.equal(lockDirectory(nodeDisk, nodeProcesses, folder), `process ${process.ppid}`)
    writeFileSync(path, `${await gone()} \n`)
    assert.equal(lockDirectory(nodeDisk, nodeProcesses, folder), null)
    assert.equal(nodeDisk.readFileNow(path).toString(), `${self.pid} ${self.startedAt}\n`)
    assert.equal(lockDirectory(nodeDisk, nodeProcesses, `${folder}/`), 'another broker in this process')
    unlockDirectory(nodeDisk, folder)
    assert.equal(nodeDisk.readFileNow(path).length, 0)
  })

  it('left by an earlier broker of this very process does not stand in the way', () => {
    const { self } = nodeProcesses
    writeFileSync(join(folder, '.lock'), `${self.pid} ${self.startedAt}\n`)
    assert.equal(lockDirectory(nodeDisk, nodeProcesses, folder), null)
    unlockDirectory(nodeDisk, folder)
  })
})
