/** Small walks over a store: make sure that folders are there, list and remove what lies below a node. */
import { isStoreError, type MetadataStore, parentOf, type StoreOperation } from './store.js'

/** Makes these nodes, with null data, where they are missing. Parents come before children in `paths`. */
export async function ensurePaths(store: MetadataStore, paths: readonly string[]): Promise<void> {
  const there = await Promise.all(paths.map((path) => store.exists(path)))
  const missing = paths.filter((_, at) => there[at] === null)
  const made = await Promise.allSettled(missing.map((path) => store.create(path, null)))
  for (const each of made) if (each.status === 'rejected' && !isStoreError(each.reason, 'NODE_EXISTS')) throw each.reason
}

/** Makes the node with all its missing parents, or sets its data. */
export async function putNode(store: MetadataStore, path: string, data: Buffer | null): Promise<void> {
  const parents: string[] = []
  for (let parent = parentOf(path); parent !== '/'; parent = parentOf(parent)) parents.unshift(parent)
  await ensurePaths(store, parents)
  try {
    await store.create(path, data)
  } catch (error) {
    if (!isStoreError(error, 'NODE_EXISTS')) throw error
    await store.set(path, data)
  }
}

/** All paths from `path` down, children before their parents. Empty when there is no such node. */
export async function pathsBelow(store: MetadataStore, path: string): Promise<string[]> {
  const names = await store.children(path)
  if (names === null) return []
  const below = await Promise.all(names.map((name) => pathsBelow(store, path === '/' ? `/${name}` : `${path}/${name}`)))
  return [...below.flat(), path]
}

export const removals = (paths: readonly string[]): StoreOperation[] => paths.map((path) => ({ kind: 'delete', path }))
