/** Everything that happened in a run, in order, as lines: hashed always, kept and printed on demand. */
import { createHash } from 'node:crypto'

export class Story {
  readonly #hash = createHash('sha256')
  readonly #tell: ((line: string) => void) | undefined
  #lines = 0

  /** @param tell gets every line as it happens */
  constructor(tell?: (line: string) => void) {
    this.#tell = tell
  }

  add(line: string): void {
    this.#lines++
    this.#hash.update(line).update('\n')
    this.#tell?.(line)
  }

  get lineCount(): number {
    return this.#lines
  }

  /** Of all lines so far; the same seed gives the same one. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }
}
