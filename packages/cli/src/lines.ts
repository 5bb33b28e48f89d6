/** Pure: text as it comes in pieces, cut into lines. */

/**
 * The lines of `pieces`, those that are whole at the same time together, so that whoever types waits for nobody.
 * A line ends with \n or \r\n; the last one needs no end.
 */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string[]> {
  let begun: string[] = []
  for await (const piece of pieces) {
    begun.push(piece)
    if (!piece.includes('\n')) continue
    const lines = begun.join('').split('\n')
    begun = [lines.pop()!]
    yield lines.map(withoutReturn)
  }
  const last = begun.join('')
  if (last !== '') yield [last]
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
