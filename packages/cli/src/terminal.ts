/** What commands print to and read from; tests bring their own. */

export interface Terminal {
  out(text: string): void
  error(text: string): void
  /** Lines of standard input until it ends, those that came together in one group. */
  lines(): AsyncIterable<string[]>
  /**
   * Resolves when the user asks to stop (Ctrl-C, or a polite kill). Only for commands that have something to finish: from the call on the
   * process does not end by itself, the first time.
   */
  interrupted(): Promise<void>
  /** Where a progress bar is drawn; null where nobody watches. */
  readonly progress: NodeJS.WritableStream | null
  /** Whether what is printed appears on a screen, and not in a file or another program. */
  readonly isOutputWatched: boolean
}

/** Prints rows as JSON, or as columns under their headings. */
export function printTable(
  terminal: Terminal,
  { json, rows, columns }: { json: boolean; rows: readonly Record<string, unknown>[]; columns: readonly string[] },
): void {
  if (json) {
    terminal.out(`${JSON.stringify(rows, null, 2)}\n`)
    return
  }
  const cells = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => cellOf(row[column]))),
  ]
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]!.length)))
  for (const line of cells)
    terminal.out(
      `${line
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd()}\n`,
    )
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return Array.isArray(value) ? value.join(',') : String(value)
}
