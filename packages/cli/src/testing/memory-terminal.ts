/** Test-only: a terminal in memory, and one way to run a command line on it. */

import { run } from '../program.js'
import type { Terminal } from '../terminal.js'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

export class MemoryTerminal implements Terminal {
  outText = ''
  errorText = ''
  progress: NodeJS.WritableStream | null = null
  isOutputWatched = false
  interrupt: () => void = () => {}
  readonly #input: readonly string[]
  readonly #interrupted: Promise<void>
  #onOut: () => void = () => {}

  constructor(input: readonly string[] = []) {
    this.#input = input
    this.#interrupted = new Promise((resolve) => {
      this.interrupt = resolve
    })
  }

  out(text: string): void {
    this.outText += text
    this.#onOut()
  }

  error(text: string): void {
    this.errorText += text
  }

  async *lines(): AsyncGenerator<string[]> {
    yield [...this.#input]
  }

  interrupted(): Promise<void> {
    return this.#interrupted
  }

  /** Resolves when the text is among what was printed. */
  printed(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#onOut = () => {
        if (this.outText.includes(text)) resolve()
      }
      this.#onOut()
    })
  }
}

export async function mq(args: readonly string[], terminal = new MemoryTerminal()): Promise<Ran> {
  const code = await run(args, terminal, '1.2.3')
  return { code, out: terminal.outText, error: terminal.errorText }
}
