// `npm run interop`: runs the rows two at a time against a broker, prints the table and compares it with Apache's column.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Program } from './program.mjs'
import { ROWS } from './rows.mjs'
import { isPossible, scene, topicsOf } from './steps.mjs'
import { printTable } from './table.mjs'
import { startTarget } from './targets.mjs'
import { createTopics } from './topics.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
const APACHE = join(HERE, 'apache.json')
const AT_ONCE = 2
const READING = ['none', 'console']

const { kind, names, at } = parse(process.argv.slice(2))
const rows = names.length === 0 ? ROWS : ROWS.filter((row) => names.includes(row.name))
const target = await startTarget(kind, at)
const results = {}
const missing = []
let isOver = false
try {
  const queue = [...rows]
  target.gone?.then((how) => brokerIsGone(how))
  await Promise.all(Array.from({ length: AT_ONCE }, () => work(queue)))
} finally {
  isOver = true
  await target.stop()
}
printTable(rows, results, kind)
process.exitCode = report()

/** Without a broker every step would only wait for its time limit. */
function brokerIsGone(how) {
  if (isOver) return
  console.log(`the broker ended by itself (${how}) and said:\n${target.said().slice(-4000)}`)
  console.log('0 passed, 1 failed')
  process.exit(1)
}

async function work(queue) {
  for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
    const began = Date.now()
    let start
    try {
      start = await row.prepare()
    } catch (error) {
      missing.push({ row: row.name, why: error.message })
      continue
    }
    results[row.name] = await runRow(row, start)
    const cells = Object.values(results[row.name].cells)
    const failed = cells.filter((cell) => cell.startsWith('fail')).length
    console.log(
      `${row.name}: ${cells.filter((cell) => cell === 'pass').length} passed, ${failed} failed, ${((Date.now() - began) / 1000).toFixed(1)} s`,
    )
    for (const [step, cell] of Object.entries(results[row.name].cells))
      if (cell.startsWith('fail')) console.log(`  ${step}: ${cell.slice(0, 600)}`)
  }
}

async function runRow(row, start) {
  const run = Math.floor(Date.now() / 1000).toString(36)
  const program = start.command === undefined ? undefined : new Program(start.command, [...start.args, target.bootstrap])
  const cells = {}
  try {
    const hello = program === undefined ? { version: '3.9.1', can: [], codecs: [] } : await program.ask({ do: 'hello' })
    const on = scene({ row: row.name, program, hello, target, run })
    await createTopics(target.bootstrap, topicsOf(on.prefix))
    for (const step of stepsOf(row)) {
      if (!isPossible(step, hello)) cells[step.name] = 'n/a'
      else cells[step.name] = await outcome(() => step.run(on))
    }
    return { version: hello.version, cells }
  } catch (error) {
    console.log(`${row.name}: the row broke off: ${error.message.slice(0, 1500)}`)
    for (const step of stepsOf(row)) cells[step.name] ??= 'fail: the row broke off'
    return { version: 'unknown', cells }
  } finally {
    program?.end()
  }
}

/** Behind the proxy that loses records only the first reading step of each row is of interest, with what it needs. */
function stepsOf(row) {
  return kind === 'broken' ? row.steps.filter((step) => ['topics', ...READING].includes(step.name)) : row.steps
}

async function outcome(work) {
  try {
    await work()
    return 'pass'
  } catch (error) {
    return `fail: ${error.message}`
  }
}

/** Against Apache the column is written down. Ours fails where Apache passes, where a cell is new, or where it cannot be compared. */
function report() {
  const all = Object.entries(results).flatMap(([row, { cells }]) =>
    Object.entries(cells).map(([step, cell]) => ({ row, step, cell })),
  )
  let failed = all.filter(({ cell }) => cell.startsWith('fail'))
  if (kind === 'apache') {
    const before = names.length === 0 ? {} : readApache()
    for (const row of rows) if (results[row.name] !== undefined) before[row.name] = column(results[row.name])
    writeFileSync(APACHE, `${JSON.stringify(before, null, 2)}\n`)
  } else if (kind === 'ours') {
    const apache = readApache()
    for (const { row, step } of failed.filter(({ row, step }) => apache[row]?.cells[step] === 'fail'))
      console.log(`${row} ${step}: fails with Apache Kafka too`)
    failed = failed.filter(({ row, step }) => apache[row]?.cells[step] !== 'fail')
    for (const row of rows) {
      const version = results[row.name]?.version
      if (version === undefined || apache[row.name]?.version === version) continue
      failed.push({ row: row.name, step: 'column', cell: 'fail: Apache has no column for this version' })
      console.log(
        `${row.name}: Apache's column is for ${apache[row.name]?.version}, this is ${version}: run npm run interop -- --against apache`,
      )
    }
  } else {
    const reading = all.filter(({ step }) => READING.includes(step))
    const unaware = reading.filter(({ cell }) => !/^fail: .*(read|record|offset|place)/i.test(cell))
    for (const { row, cell } of unaware) console.log(`${row}: did not notice that records were dropped: ${cell}`)
    console.log(`${reading.length - unaware.length} passed, ${unaware.length} failed`)
    return unaware.length === 0 && reading.length > 0 ? 0 : 1
  }
  const passed = all.filter(({ cell }) => cell === 'pass').length
  for (const { row, why } of missing) console.log(`skipped: interop ${row}: ${why}`)
  console.log(`${passed} passed, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
}

function column({ version, cells }) {
  return {
    version,
    cells: Object.fromEntries(Object.entries(cells).map(([step, cell]) => [step, cell.startsWith('fail') ? 'fail' : cell])),
  }
}

function readApache() {
  try {
    return JSON.parse(readFileSync(APACHE, 'utf8'))
  } catch {
    return {}
  }
}

function parse(args) {
  const known = new Set(ROWS.map((row) => row.name))
  const against = args.includes('--broken') ? 'broken' : args.includes('--against') ? args[args.indexOf('--against') + 1] : 'ours'
  const at = args.includes('--at') ? args[args.indexOf('--at') + 1] : undefined
  const chosen = args.filter((arg, index) => !arg.startsWith('--') && !['--against', '--at'].includes(args[index - 1]))
  const odd = chosen.filter((name) => !known.has(name))
  if (odd.length > 0 || !['ours', 'apache', 'broken'].includes(against)) {
    console.error(
      `usage: npm run interop -- [--against apache | --broken] [--at HOST:PORT] [ROW ...]\nrows: ${[...known].join(', ')}`,
    )
    process.exit(2)
  }
  return { kind: against, names: chosen, at }
}
