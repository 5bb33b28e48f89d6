import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeDisk } from '../disk-node.js'
import { MemoryDisk } from '../memory-disk.js'
import { seededRandom } from '../testing.js'
import { checkAll } from './checker.test.support.js'
import { Reached } from './machine.test.support.js'
import { Model } from './model.test.support.js'
import { PlainGround } from './plain-ground.test.support.js'
import { Life } from './workload.test.support.js'

const FIRST_SEED = Number(process.env.SEED ?? 1)
const KILLS = Number(process.env.KILLS ?? 50)

/** Kills the process once it has begun so many steps. @returns the step that it was killed in */
function workAndKill(folder: string, seed: number, steps: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(__dirname, 'kill-child.test.support.js'), folder, String(seed)])
    let said = ''
    let errors = ''
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes
      if (said.split('\n').length > steps) child.kill('SIGKILL')
    })
    child.stderr.on('data', (bytes: Buffer) => {
      errors += bytes
    })
    child.on('error', reject)
    child.on('close', (_, signal) => {
      if (signal === 'SIGKILL') resolve(Number(said.trimEnd().split('\n').at(-1)))
      else reject(new Error(`the process ended by itself: ${errors}`))
    })
  })
}

/** The same work on a disk in memory: what may be promised at any moment of the step, before it and after it. */
async function promisesIn(seed: number, lastStep: number): Promise<Model[]> {
  const disk = new MemoryDisk({ durability: 'ignored' })
  const model = new Model()
  const life = new Life(new PlainGround(disk, model, seededRandom(seed)), '/data')
  await life.open()
  for (let step = 0; step < lastStep; step++) await life.step()
  const moments = [model.clone()]
  let before = promisesText(model)
  disk.faults = () => {
    const now = promisesText(model)
    if (now !== before) moments.push(model.clone())
    before = now
    return undefined
  }
  await life.step()
  return [...moments, model.clone()]
}

/** All of a model that differs between two moments of a step; records that are under way stay the same buffers. */
const promisesText = ({ partitions }: Model): string =>
  JSON.stringify([...partitions.values()].map(({ history, underWay, ...promises }) => [promises, history.end, underWay?.kind]))

describe('a process that is killed in the middle of its work', function () {
  this.timeout(60_000 + KILLS * 20_000)
  const folder = mkdtempSync(join(tmpdir(), 'mq-killed-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it(`loses nothing that it had answered, ${KILLS} times`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + KILLS; seed++) {
      const data = join(folder, String(seed))
      const random = seededRandom(seed * 31)
      const lastStep = await workAndKill(data, seed, 5 + Math.floor(random.next() * 120))
      const moments = await promisesIn(seed, lastStep)
      let last: unknown
      let isKept = false
      for (let at = 0; at < moments.length && !isKept; at++) {
        const model = moments[at]!
        // A start changes what it finds: each moment is held against what the kill left.
        const copy = join(folder, 'copy')
        rmSync(copy, { recursive: true, force: true })
        cpSync(data, copy, { recursive: true })
        const life = new Life(new PlainGround(nodeDisk, model, random), copy)
        try {
          await checkAll(await life.open(), model, 'process', new Reached())
          isKept = true
          for (let step = 0; step < 5; step++) await life.step()
          await life.restart()
          await checkAll(life.directories, model, 'process', new Reached())
        } catch (error) {
          if (isKept) throw error
          last = error
        }
        if (isKept) await life.close()
        else await life.directories.abandon()
      }
      assert.ok(isKept, `SEED=${seed}, killed in step ${lastStep}: ${(last as Error)?.message}`)
      rmSync(data, { recursive: true, force: true })
    }
  })
})
