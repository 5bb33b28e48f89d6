/** Reads a server.properties as Java reads it: comments, continued lines, escapes, and `=`, `:` or white space after the key. */

/** Keys and values in the order of the file; of a key that stands twice the last one counts. */
export function parseProperties(text: string): Map<string, string> {
  const entries = new Map<string, string>()
  const lines = text.split(/\r\n|\n|\r/)
  for (let at = 0; at < lines.length; at++) {
    let line = lines[at]!.replace(/^[ \t\f]+/, '')
    if (line === '' || line.startsWith('#') || line.startsWith('!')) continue
    // A line whose end is an odd number of backslashes goes on in the next, whose leading white space is dropped.
    while (/(^|[^\\])(\\\\)*\\$/.test(line) && at + 1 < lines.length) {
      at++
      line = line.slice(0, -1) + lines[at]!.replace(/^[ \t\f]+/, '')
    }
    const { key, value } = split(line)
    if (key !== '') entries.set(unescaped(key), unescaped(value))
  }
  return entries
}

function split(line: string): { key: string; value: string } {
  let end = 0
  while (end < line.length && !/[=: \t\f]/.test(line[end]!)) end += line[end] === '\\' ? 2 : 1
  const rest = line.slice(Math.min(end, line.length)).replace(/^[ \t\f]*[=:]?[ \t\f]*/, '')
  return { key: line.slice(0, end), value: rest }
}

function unescaped(text: string): string {
  return text.replace(/\\(u[0-9A-Fa-f]{4}|.|$)/gs, (_, code: string) => {
    if (code.length === 5) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return { t: '\t', n: '\n', r: '\r', f: '\f' }[code] ?? code
  })
}
