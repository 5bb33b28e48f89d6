/**
 * The contrast that Kafka's design stands on (S28): durable writes one after another beside durable writes here and there in a file.
 * By a script of ours (O_DSYNC), and by fio where fio is (direct writes).
 */

import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beginUsage, type Usage } from './usage.js'

export interface Contrast {
  /** MB/s. */
  readonly sequential: number
  readonly random: number
}

const FILE_BYTES = 256 * 1024 * 1024
const LARGE_BYTES = 1024 * 1024
const SMALL_BYTES = 4096
const TOOLS = resolve(__dirname, '..', '..', '..', 'tools', 'toolchain', 'system.mjs')

const mbPerSecond = ({ bytes, wallMs }: Usage): number => bytes / 1000 / wallMs

export function contrastByScript(folder: string, seconds: number): Contrast {
  const path = join(folder, 'contrast')
  const file = openSync(path, constants.O_CREAT | constants.O_WRONLY | constants.O_DSYNC, 0o644)
  try {
    const sequential = writeFor(file, seconds, LARGE_BYTES, (number) => number % (FILE_BYTES / LARGE_BYTES))
    writeSync(file, Buffer.alloc(1), 0, 1, FILE_BYTES - 1)
    const random = writeFor(file, seconds, SMALL_BYTES, () => Math.floor(Math.random() * (FILE_BYTES / SMALL_BYTES)))
    return { sequential: mbPerSecond(sequential), random: mbPerSecond(random) }
  } finally {
    closeSync(file)
    rmSync(path)
  }
}

function writeFor(file: number, seconds: number, sizeInBytes: number, place: (number: number) => number): Usage {
  const bytes = Buffer.alloc(sizeInBytes, 'x')
  const end = beginUsage()
  const until = performance.now() + seconds * 1000
  let count = 0
  while (performance.now() < until) {
    writeSync(file, bytes, 0, sizeInBytes, place(count) * sizeInBytes)
    count++
  }
  return end(count, count * sizeInBytes)
}

/** Null where fio is not and cannot be had; the reason is said. */
export async function contrastByFio(folder: string, seconds: number): Promise<Contrast | null> {
  const { needSystem } = (await import(TOOLS)) as { needSystem(name: string): Promise<void> }
  try {
    await needSystem('fio')
    return {
      sequential: await fio(folder, seconds, ['--rw=write', `--bs=${LARGE_BYTES}`]),
      random: await fio(folder, seconds, ['--rw=randwrite', `--bs=${SMALL_BYTES}`]),
    }
  } catch (error) {
    console.error(`skipped: fio: ${(error as Error).message.split('\n')[0]}`)
    return null
  }
}

async function fio(folder: string, seconds: number, how: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)('fio', [
    '--name=contrast',
    `--directory=${folder}`,
    `--size=${FILE_BYTES}`,
    '--ioengine=psync',
    '--direct=1',
    '--time_based',
    `--runtime=${seconds}`,
    '--output-format=json',
    '--unlink=1',
    ...how,
  ])
  const { jobs } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { jobs: { write: { bw_bytes: number } }[] }
  return jobs[0]!.write.bw_bytes / 1e6
}
