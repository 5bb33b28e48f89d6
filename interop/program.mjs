// One client program under the contract of README.md: a process that is asked one JSON line at a time.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const ANSWER_MS = 60_000

export class ClientError extends Error {
  constructor(message, code) {
    super(message)
    this.code = code
  }
}

export class Program {
  #child
  #waiting = []
  #ended
  #complaints = ''

  constructor(command, args, env = {}) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    this.#child.stdin.on('error', () => {})
    this.#child.stderr.on('data', (chunk) => {
      this.#complaints = (this.#complaints + chunk).slice(-4000)
    })
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#answered(line))
    this.#child.on('error', (error) => this.#over(error.message))
    this.#child.on('close', (code, signal) => this.#over(`it ended with ${code ?? signal}`))
  }

  /** Sends one request; resolves with the answer, or rejects with a ClientError carrying what the client said. */
  ask(request, withinMs = ANSWER_MS) {
    if (this.#ended !== undefined) return Promise.reject(new ClientError(`the program is gone: ${this.#ended}`, -1))
    return new Promise((done, fail) => {
      const late = setTimeout(() => {
        fail(
          new ClientError(`no answer to ${request.do} within ${withinMs / 1000} s; it said: ${this.#complaints.slice(-600)}`, -1),
        )
        this.kill()
      }, withinMs)
      this.#waiting.push((answer) => {
        clearTimeout(late)
        if (answer.error === undefined) done(answer)
        else fail(new ClientError(answer.error, answer.code ?? -1))
      })
      this.#child.stdin.write(`${JSON.stringify(request)}\n`)
    })
  }

  /** What the program wrote to standard error lately. */
  get complaints() {
    return this.#complaints
  }

  end() {
    this.#child.stdin.end()
    const late = setTimeout(() => this.kill(), 10_000)
    this.#child.once('close', () => clearTimeout(late))
  }

  kill() {
    this.#child.kill('SIGKILL')
  }

  #answered(line) {
    if (!line.startsWith('{')) return
    this.#waiting.shift()?.(JSON.parse(line))
  }

  #over(reason) {
    this.#ended ??= `${reason}; it said: ${this.#complaints.slice(-600)}`
    for (const wake of this.#waiting.splice(0)) wake({ error: `the program is gone: ${this.#ended}` })
  }
}
