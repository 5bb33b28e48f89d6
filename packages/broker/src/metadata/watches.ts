/**
 * One-shot watches of the embedded store, by ZooKeeper's table: which changes set off which watches. A function that watches the same node
 * in the same way twice is called once.
 */
import { parentOf, type WatchEvent, type Watcher } from './store.js'
import type { Change } from './tree.js'

type Kind = 'data' | 'children'

/** Watchers of one node, each with the session that set it. */
type Watchers = Map<Watcher, string>

export class Watches {
  readonly #byKind: Readonly<Record<Kind, Map<string, Watchers>>> = { data: new Map(), children: new Map() }

  add(kind: Kind, path: string, watcher: Watcher, session: string): void {
    const watchers = this.#byKind[kind].get(path)
    if (watchers === undefined) this.#byKind[kind].set(path, new Map([[watcher, session]]))
    else watchers.set(watcher, session)
  }

  /** A session that is over hears nothing any more. */
  forget(session: string): void {
    for (const paths of Object.values(this.#byKind)) {
      for (const [path, watchers] of paths) {
        for (const [watcher, owner] of watchers) if (owner === session) watchers.delete(watcher)
        if (watchers.size === 0) paths.delete(path)
      }
    }
  }

  /** Takes out what these changes set off; the calls are to be made once the changes are durable. */
  trigger(changes: readonly Change[]): (() => void)[] {
    const calls: (() => void)[] = []
    const take = (kinds: readonly Kind[], event: WatchEvent) => {
      const taken = new Set<Watcher>()
      for (const kind of kinds) {
        for (const watcher of this.#byKind[kind].get(event.path)?.keys() ?? []) taken.add(watcher)
        this.#byKind[kind].delete(event.path)
      }
      for (const watcher of taken) calls.push(() => watcher(event))
    }
    for (const { kind, path } of changes) {
      if (kind === 'set') take(['data'], { kind: 'dataChanged', path })
      else {
        take(kind === 'create' ? ['data'] : ['data', 'children'], { kind: kind === 'create' ? 'created' : 'deleted', path })
        take(['children'], { kind: 'childrenChanged', path: parentOf(path) })
      }
    }
    return calls
  }
}
