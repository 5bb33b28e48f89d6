/** What a run found wrong. A checker throws or notes; the run goes on to its end either way, so that the story is whole. */

export class Violations {
  readonly found: string[] = []

  constructor(private readonly tell: (line: string) => void) {}

  note(rule: string, detail: string): void {
    const line = `${rule}: ${detail}`
    this.tell(`VIOLATION ${line}`)
    if (this.found.length < 100) this.found.push(line)
  }
}
