/** Whoever is measured is a process of its own that takes one order a line and answers it with one line of JSON. */

import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { APACHE_HEAP } from '../peers.js'

const ROOT = resolve(__dirname, '..', '..', '..')

export interface Contestant {
  readonly name: string
  /** One order at a time. Rejects when the process ends. */
  ask<Answer>(...words: (string | number)[]): Promise<Answer>
  close(): Promise<void>
}

export async function startContestant(name: string, program: string, args: readonly string[]): Promise<Contestant> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  const answer = async (): Promise<unknown> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${name} ended without an answer`)
    return JSON.parse(value)
  }
  await answer()
  return {
    name,
    async ask<Answer>(...words: (string | number)[]) {
      child.stdin.write(`${words.join(' ')}\n`)
      return (await answer()) as Answer
    },
    async close() {
      child.stdin.end()
      await ended
    },
  }
}

/** One of our programs beside this file. */
export function startNode(name: string, program: string, args: readonly string[], nodeOptions: readonly string[] = []) {
  return startContestant(name, process.execPath, [...nodeOptions, join(__dirname, program), ...args])
}

interface JavaTools {
  compiled(name: string, sources: string, release: string): Promise<string>
}

/** Apache Kafka 3.9.1's storage engine in a JVM as large as a broker's. Rejects where there is no Java. */
export async function startJava(args: readonly string[]): Promise<Contestant> {
  const tools = (await import(join(ROOT, 'tools', 'toolchain', 'java.mjs'))) as JavaTools
  const classPath = await tools.compiled('storage-benchmark', join(ROOT, 'benchmarks', 'java'), 'kafka-3.9.1')
  const logs = `-Dlog4j.configuration=file:${join(ROOT, 'tools', 'toolchain', 'log4j.properties')}`
  return startContestant('apache 3.9.1', 'java', [...APACHE_HEAP, logs, '-cp', classPath, 'StorageBenchmark', ...args])
}
