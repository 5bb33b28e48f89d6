// Prints the table client × step: + passed, FAIL, - the client has no such thing.

const MARKS = { pass: '+', 'n/a': '-', undefined: ' ' }

export function printTable(rows, results, kind) {
  const done = rows.filter((row) => results[row.name] !== undefined)
  for (const steps of new Set(done.map((row) => row.steps))) {
    const some = done.filter((row) => row.steps === steps)
    const names = steps.map((step) => step.name)
    const wide = Math.max(...some.map((row) => title(row, results).length))
    console.log(`\n${`against ${kind}`.padEnd(wide)}  ${names.join('  ')}`)
    for (const row of some) {
      const { cells } = results[row.name]
      console.log(
        `${title(row, results).padEnd(wide)}  ${names.map((name) => (MARKS[String(cells[name])] ?? 'FAIL').padEnd(name.length)).join('  ')}`,
      )
    }
  }
  console.log('')
}

function title(row, results) {
  return `${row.name} ${results[row.name].version}`
}
