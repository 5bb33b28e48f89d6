// The config table as a whole: no name twice, every default valid, and every honoured config read somewhere.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConfigRow, defaultText, parseConfig } from '@mq/protocol'
import { CONFIG_ROWS, CONFIG_TABLES, topicConfigRows } from './tables.js'

const rows: [string, ConfigRow][] = Object.entries(CONFIG_ROWS)
const packages = join(__dirname, '../../..')

/** All source texts of the packages but the tables themselves and tests. */
function* sources(folder: string): Iterable<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!['node_modules', 'dist', 'fixtures', 'bin', 'testing'].includes(entry.name)) yield* sources(path)
    } else if (entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') && !isTable(path)) yield readFileSync(path, 'utf8')
  }
}
const isTable = (path: string) =>
  /config\.ts$|topic-config\.ts$/.test(path) || /\/config\/(?!read|topic-rules|overrides)/.test(path)

describe('The config table', () => {
  it('has each name in one package only', () => {
    const names = Object.values(CONFIG_TABLES).flatMap((table) => Object.keys(table))
    assert.deepEqual(
      names.filter((name, at) => names.indexOf(name) !== at),
      [],
    )
    assert.equal(names.length, rows.length)
  })

  it('has defaults that are valid themselves, but for those that mean "not set"', () => {
    const empty = new Set(['', null])
    for (const [name, row] of rows) {
      const text = defaultText(row)
      if (empty.has(text)) continue
      assert.deepEqual(parseConfig(name, row, text!), {
        kind: 'parsed',
        value: typeof row.default === 'bigint' ? Number(row.default) : row.default,
        text,
      })
    }
  })

  it('explains every config in a sentence', () => {
    for (const [name, { doc }] of rows) assert.equal(doc.length > 20 && /[.)]$/.test(doc), true, `${name}: ${doc}`)
  })

  it('says why a config has no effect', () => {
    for (const [name, { effect, doc }] of rows) {
      if (effect === 'refused') assert.match(doc, /[Nn]ot in this version|cannot|Only PLAINTEXT|no KRaft/, name)
    }
  })

  it('has a reader for each honoured config', () => {
    const text = [...sources(packages)].join('\n')
    const topics = new Map([...topicConfigRows().values()].map(({ name, broker }) => [broker, name]))
    // Values that reach their reader by another config of the family: `orElse` is read by the language itself.
    const inherited = new Set(rows.flatMap(([, row]) => (row.orElse ?? []).map(([name]) => name)))
    // A name of one word may be read as a property.
    const isRead = (name: string | undefined) =>
      name !== undefined && (text.includes(`'${name}'`) || (!name.includes('.') && new RegExp(`\\b${name}\\b`).test(text)))
    const unread = rows
      .filter(([name, { effect }]) => effect === 'honoured' && !inherited.has(name))
      .filter(([name]) => !isRead(name) && !isRead(topics.get(name)))
    assert.deepEqual(
      unread.map(([name]) => name),
      [],
    )
  })
})
