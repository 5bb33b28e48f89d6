// Writes docs/config.md from the config tables of the packages (`node tools/config-docs.mjs`), or says whether it is fresh (`--check`).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const target = join(root, 'docs/config.md')
const require = createRequire(import.meta.url)

const TITLES = {
  network: 'Network',
  server: 'Broker, topics, controller, quotas, metrics',
  metadata: 'Metadata',
  log: 'Log',
  compaction: 'Compression by the broker, compaction',
  inherited: 'Old formats, throttled replicas, remote storage of a topic',
  replication: 'Replication and waiting requests',
  replica: 'In-sync replicas',
  coordinator: 'Consumer groups and offsets',
  transactions: 'Transactions',
  sasl: 'Logins, tokens, access rules',
  tls: 'TLS',
  remote: 'Remote storage',
}
const EFFECT = { honoured: 'yes', accepted: 'none', refused: 'refused' }

/** The whole page as text. */
export function configDocs() {
  const { CONFIG_TABLES, defaultText, topicConfigRows } = require(join(root, 'packages/broker/dist/config/docs.js'))
  const topicNames = new Map(
    [...topicConfigRows().values()].filter(({ broker }) => broker).map(({ name, broker }) => [broker, name]),
  )
  const parts = [
    '# Configs',
    '',
    'Made by `tools/config-docs.mjs` from the config tables of the packages; change them, not this page.',
    '',
    'Every config that Apache Kafka 3.9.1 knows for brokers and topics is known here, with its default. **Effect** says what it does: _yes_: it is honoured;',
    '_none_: it is accepted, so that existing files work, and has no effect in this version (a line in the log says so when it is set);',
    '_refused_: the broker does not start when it is set to anything but its default, because ignoring it would be unsafe or misleading.',
    '**Change** says who may change it while the broker runs in Kafka; in this version only the configs of topics can be changed.',
    'Names that begin with `mq.` are ours.',
  ]
  for (const [table, rows] of Object.entries(CONFIG_TABLES)) {
    parts.push(
      '',
      `## ${TITLES[table]}`,
      '',
      '| config | type | default | allowed | change | effect | meaning |',
      '| --- | --- | --- | --- | --- | --- | --- |',
    )
    for (const [name, row] of Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1))) {
      const topic = topicNames.get(name)
      const names = topic === undefined ? `\`${name}\`` : `\`${name}\`, topic: \`${topic}\``
      const cells = [names, row.type, code(defaultText(row)), row.valid?.text ?? '', row.update, EFFECT[row.effect], row.doc]
      parts.push(`| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    }
  }
  return `${parts.join('\n')}\n`
}

const code = (text) => (text === null ? '' : text === '' ? '(empty)' : `\`${text}\``)

/** Whether the page on disk is what the tables say. */
export function configDocsAreFresh() {
  return readFileSync(target, 'utf8') === configDocs()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) {
    if (!configDocsAreFresh()) {
      console.error('docs/config.md is not fresh: run node tools/config-docs.mjs')
      process.exitCode = 1
    }
  } else {
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, configDocs())
  }
}
