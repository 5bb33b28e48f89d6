// Writes docs/protocol.md and docs/errors.md from the tables of @mq/protocol (`node tools/protocol-docs.mjs`), or says whether
// they are fresh (`--check`).
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const protocol = createRequire(import.meta.url)(join(root, 'packages/protocol/dist/index.js'))
const MADE = 'Made by `tools/protocol-docs.mjs` from the tables of `@mq/protocol`; change them, not this page.'

const versions = (range) => (range === null ? '' : range[0] === range[1] ? `${range[0]}` : `${range[0]}–${range[1]}`)
const isMessage = (value) => typeof value === 'object' && value !== null && 'fields' in value && 'flexible' in value

/** The page of messages. */
export function protocolDocs() {
  const apis = Object.values(protocol.APIS)
  const ofApis = new Set(apis.flatMap((api) => [api.request, api.response]))
  const others = Object.values(protocol).filter((value) => isMessage(value) && !ofApis.has(value))
  return [
    '# Messages',
    '',
    MADE,
    '',
    'Every message of Apache Kafka 3.9.1 and 4.4.0 that `@mq/protocol` reads and writes. What a broker of ours answers is a part of this:',
    'ask it by ApiVersions. _3.9.1_ and _4.4.0_ are what these releases define, _live_ is what a running 3.9.1 broker in ZooKeeper mode offers.',
    '',
    'In the layouts a field has its type, its versions, and then what else holds: `nullable` (and in which versions), its default when',
    'that is not zero, empty or false, `tag` when it stands in the tagged section of flexible versions, `ignorable` when a version',
    'without it may drop its value. `[]` is an array, `{}` a struct; their fields are indented. A version after `flexible` and later',
    'have compact lengths and tagged sections (KIP-482).',
    '',
    '## APIs',
    '',
    '| key | API | 3.9.1 | live | 4.4.0 | between brokers |',
    '| --: | --- | --- | --- | --- | --- |',
    ...apis.map(({ key, name, versions: has, clusterAction }) => {
      const cells = [key, `[${name}](#${name.toLowerCase()})`, versions(has['3.9']), versions(has.live), versions(has['4.4'])]
      return `| ${[...cells, clusterAction ? 'yes' : ''].join(' | ')} |`
    }),
    ...apis.flatMap((api) => ['', `## ${api.name}`, '', ...layout(api.request), '', ...layout(api.response)]),
    '',
    '## Headers, records, opaque bytes',
    ...others.flatMap((schema) => ['', ...layout(schema)]),
    '',
  ].join('\n')
}

function layout(schema) {
  return ['```', protocol.describeSchema(schema), '```']
}

/** The page of errors. */
export function errorDocs() {
  return [
    '# Errors',
    '',
    MADE,
    '',
    'The error codes of the protocol. _Try again_ says whether the same request may succeed later, perhaps after a look at fresh metadata.',
    '',
    '| code | name | try again | meaning |',
    '| --: | --- | --- | --- |',
    ...Object.entries(protocol.ERRORS).map(
      ([name, { code, retriable, meaning }]) => `| ${code} | \`${name}\` | ${retriable ? 'yes' : ''} | ${meaning} |`,
    ),
    '',
  ].join('\n')
}

export const PAGES = { 'docs/protocol.md': protocolDocs, 'docs/errors.md': errorDocs }

/** The pages that are not what they would be if made now. */
export function stalePages() {
  return Object.entries(PAGES)
    .filter(([path, make]) => {
      try {
        return readFileSync(join(root, path), 'utf8') !== make()
      } catch {
        return true
      }
    })
    .map(([path]) => path)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) {
    const stale = stalePages()
    for (const path of stale) console.error(`${path} is stale: node tools/protocol-docs.mjs`)
    process.exitCode = stale.length > 0 ? 1 : 0
  } else for (const [path, make] of Object.entries(PAGES)) writeFileSync(join(root, path), make())
}
