/**
 * A whole tree as a file, in the format of conformance/znodes: a JSON list with one node each, `path`, `data` (text, null for null data),
 * `json` (the same parsed, for readers), `ephemeral` and the counters.
 */
import { isStoreError, type MetadataStore } from './store.js'
import { OWN_FOLDER, rowOf } from './znodes.js'

export interface FileNode {
  readonly path: string
  readonly data: Buffer | null
  readonly ephemeral: boolean
}

/** The file is not a tree; nothing was changed. */
export class TreeFileError extends Error {
  override readonly name = 'TreeFileError'
}

/** Nodes with their parents before them. Data that Kafka 3.9 could not read is an error that names the node. */
export function parseTree(text: string): FileNode[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (error) {
    throw new TreeFileError(`it is not JSON: ${(error as Error).message}`)
  }
  if (!Array.isArray(list)) throw new TreeFileError('it is not a list of nodes')
  const nodes = list.map(nodeOf)
  for (const { path, data } of nodes) {
    try {
      if (data !== null && data.length > 0) rowOf(path)?.row.decode(data, path)
    } catch (error) {
      throw new TreeFileError((error as Error).message)
    }
  }
  const depth = (path: string) => path.split('/').length
  return nodes.sort((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1))
}

function nodeOf(each: unknown, at: number): FileNode {
  const { path, data, ephemeral } = (each ?? {}) as { path?: unknown; data?: unknown; ephemeral?: unknown }
  if (typeof path !== 'string' || !path.startsWith('/')) throw new TreeFileError(`node ${at} has no path`)
  if (typeof data !== 'string' && data !== null) throw new TreeFileError(`${path} has neither text nor null as data`)
  return { path, data: data === null ? null : Buffer.from(data, 'utf8'), ephemeral: ephemeral === true }
}

/** The tree as text, one node a line, without what is only ours. */
export async function exportTree(store: MetadataStore): Promise<string> {
  const lines: string[] = []
  const visit = async (path: string): Promise<void> => {
    const [node, children] = await Promise.all([store.get(path), store.children(path)])
    if (node === null || children === null) return // went away meanwhile
    const text = node.data?.toString('utf8') ?? null
    const { version, cversion, numChildren, ephemeralOwner } = node.stat
    const counters = {
      ephemeral: ephemeralOwner !== null,
      version,
      cversion,
      aclVersion: 0,
      numChildren,
      acl: ['world:anyone:31'],
    }
    lines.push(JSON.stringify({ path, data: text, ...jsonOf(text), ...counters }))
    for (const name of children) {
      const child = path === '/' ? `/${name}` : `${path}/${name}`
      if (child !== OWN_FOLDER) await visit(child)
    }
  }
  try {
    await visit('/')
  } catch (error) {
    if (!isStoreError(error)) throw error
    throw new TreeFileError(`the metadata could not be read: ${error.message}`)
  }
  return `[\n${lines.join(',\n')}\n]\n`
}

function jsonOf(text: string | null): { json?: unknown } {
  if (text === null || !text.startsWith('{')) return {}
  try {
    return { json: JSON.parse(text) }
  } catch {
    return {}
  }
}
