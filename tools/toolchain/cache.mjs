// The folder .cache at the root: what peers need (jars, Python, Go, npm clients), each part made once and kept until its pins change.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')
/** `MQ_CACHE` names another folder, so that several working trees can share one. */
export const CACHE = process.env.MQ_CACHE ?? join(ROOT, '.cache')

const TRIES = 3
const HOLDER_GONE_MS = 15 * 60_000

/** A part of the toolchain that cannot be had on this machine: counted as skipped, or as failed where CI=true. */
export class Missing extends Error {}

/**
 * The folder `.cache/NAME`, filled by `make(folder)` unless it was already for the same `inputs` (pins, sources: any text).
 * `make` is tried three times, each time in an empty folder; processes that want the same part wait for one another.
 */
export async function part(name, inputs, make) {
  const folder = join(CACHE, name)
  const stamp = join(folder, '.made-from')
  const print = createHash('sha256').update(inputs.join('\0')).digest('hex')
  const isMade = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === print
  if (isMade()) return folder
  const release = await lock(join(CACHE, `${name.replaceAll('/', '-')}.lock`))
  try {
    if (isMade()) return folder
    await tried(async () => {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder, { recursive: true })
      await make(folder)
    })
    writeFileSync(stamp, print)
    return folder
  } finally {
    release()
  }
}

/** Runs `work` up to three times; `Missing` is final at once. */
export async function tried(work) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Missing || attempt === TRIES) throw error
      await pause(1000 * attempt)
    }
  }
}

/** Runs a program to its end. Throws with the tail of what it printed when it fails; `Missing` when there is no such program. */
export function run(program, args, { cwd = ROOT, env = {}, timeoutMs = 10 * 60_000 } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    })
    let printed = ''
    const keep = (chunk) => {
      printed = (printed + chunk).slice(-200_000)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => fail(error.code === 'ENOENT' ? new Missing(`no ${program} on this machine`) : error))
    child.on('close', (code, signal) => {
      if (code === 0) done(printed)
      else fail(new Error(`${program} ${args.slice(0, 3).join(' ')} … ended with ${code ?? signal}:\n${printed.slice(-2000)}`))
    })
  })
}

export async function has(program, args = ['--version']) {
  try {
    await run(program, args, { timeoutMs: 60_000 })
    return true
  } catch {
    return false
  }
}

async function lock(path) {
  mkdirSync(CACHE, { recursive: true })
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      return () => rmSync(path, { force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (holderIsGone(path)) rmSync(path, { force: true })
      else await pause(200)
    }
  }
}

function holderIsGone(path) {
  try {
    if (Date.now() - statSync(path).mtimeMs > HOLDER_GONE_MS) return true
    const holder = Number(readFileSync(path, 'utf8'))
    if (holder > 0) process.kill(holder, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}
