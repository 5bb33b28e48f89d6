/** The embedded store against a slow twin that obviously does what ZooKeeper says, on random calls of several sessions. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { EmbeddedStore } from './embedded.js'
import { type MetadataStore, StoreError, type StoreErrorCode, type StoreOperation, type WatchEvent } from './store.js'
import { storeContract } from './store-contract.test.support.js'

storeContract('the embedded store in memory', async () => {
  const store = EmbeddedStore.inMemory({ now: () => 1_700_000_000_000 })
  return { connect: async () => store.connect(), close: () => store.close() }
})

interface TwinNode {
  readonly path: string
  readonly data: string
  readonly version: number
  readonly owner: number | null
  readonly childrenMade: number
  readonly childrenGone: number
  readonly czxid: number
  readonly mzxid: number
  readonly pzxid: number
}
interface TwinWatch {
  readonly id: number
  readonly session: number
  readonly path: string
  readonly kind: 'data' | 'children'
}

/** All nodes in a list; every change makes a new list. */
class Twin {
  nodes: readonly TwinNode[] = [
    { path: '/', data: '', version: 0, owner: null, childrenMade: 0, childrenGone: 0, czxid: 0, mzxid: 0, pzxid: 0 },
  ]
  watches: readonly TwinWatch[] = []
  told: string[] = []
  zxid = 0

  find(path: string): TwinNode | undefined {
    return this.nodes.find((node) => node.path === path)
  }
  childrenOf(path: string): TwinNode[] {
    return this.nodes.filter((node) => node.path !== '/' && parent(node.path) === path)
  }
  #replace(path: string, change: Partial<TwinNode>): void {
    this.nodes = this.nodes.map((node) => (node.path === path ? { ...node, ...change } : node))
  }
  #tell(kinds: readonly string[], kind: WatchEvent['kind'], path: string): void {
    const found = kinds.flatMap((each) => this.watches.filter((watch) => watch.path === path && watch.kind === each))
    for (const { id } of found) this.told.push(`${id} ${kind} ${path}`)
    this.watches = this.watches.filter((watch) => watch.path !== path || !kinds.includes(watch.kind))
  }

  /** The results, or the code and place of the refusal with everything as before. */
  multi(operations: readonly StoreOperation[], session: number): string[] | { code: StoreErrorCode; at: number } {
    const before = { nodes: this.nodes, watches: this.watches, told: [...this.told], zxid: this.zxid }
    if (operations.some(({ kind }) => kind !== 'check')) this.zxid++
    const results: string[] = []
    for (const [at, operation] of operations.entries()) {
      const result = this.#one(operation, session)
      if (typeof result !== 'string') {
        Object.assign(this, before)
        return { code: result.code, at }
      }
      results.push(result)
    }
    return results
  }

  #one(operation: StoreOperation, session: number): string | { code: StoreErrorCode } {
    const above = parent(operation.path)
    if (operation.kind === 'create') {
      const over = this.find(above)
      if (over === undefined) return { code: 'NO_NODE' }
      const path = operation.sequential ? operation.path + String(over.childrenMade).padStart(10, '0') : operation.path
      if (this.find(path) !== undefined) return { code: 'NODE_EXISTS' }
      if (over.owner !== null) return { code: 'NO_CHILDREN_FOR_EPHEMERALS' }
      const zxids = { czxid: this.zxid, mzxid: this.zxid, pzxid: this.zxid }
      const owner = operation.ephemeral ? session : null
      this.nodes = [
        ...this.nodes,
        { path, data: String(operation.data), version: 0, owner, childrenMade: 0, childrenGone: 0, ...zxids },
      ]
      this.#replace(above, { childrenMade: over.childrenMade + 1, pzxid: this.zxid })
      this.#tell(['data'], 'created', path)
      this.#tell(['children'], 'childrenChanged', above)
      return path
    }
    const node = this.find(operation.path)
    if (node === undefined) return { code: 'NO_NODE' }
    if (operation.version !== undefined && operation.version !== node.version) return { code: 'BAD_VERSION' }
    if (operation.kind === 'set') {
      this.#replace(node.path, { data: String(operation.data), version: node.version + 1, mzxid: this.zxid })
      this.#tell(['data'], 'dataChanged', node.path)
    } else if (operation.kind === 'delete') {
      if (this.childrenOf(node.path).length > 0) return { code: 'NOT_EMPTY' }
      this.remove(node.path)
    }
    return operation.kind
  }

  remove(path: string): void {
    const over = this.find(parent(path))!
    this.nodes = this.nodes.filter((node) => node.path !== path)
    this.#replace(over.path, { childrenGone: over.childrenGone + 1, pzxid: this.zxid })
    this.#tell(['data', 'children'], 'deleted', path)
    this.#tell(['children'], 'childrenChanged', over.path)
  }

  end(session: number): void {
    this.watches = this.watches.filter((watch) => watch.session !== session)
    const owned = this.nodes.filter(({ owner }) => owner === session)
    if (owned.length > 0) this.zxid++
    for (const { path } of owned) this.remove(path)
  }
}

const parent = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')))

const paths = ['/a', '/b', '/a/x', '/a/y', '/a/x/p', '/b/z', '/a0000000000', '/a/x0000000001']
const pathOf = fc.constantFrom(...paths)
const data = fc.constantFrom(null, Buffer.alloc(0), Buffer.from('one'), Buffer.from('two'))
const version = fc.option(fc.nat(3), { nil: undefined, freq: 1 })
/** True about once in `times`. */
const seldom = (times: number) => fc.nat(times - 1).map((number) => number === 0)
const operation: fc.Arbitrary<StoreOperation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      path: pathOf,
      data,
      ephemeral: seldom(4),
      sequential: seldom(5),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('set' as const), path: pathOf, data, version }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), path: pathOf, version }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('check' as const), path: pathOf, version: fc.nat(2) }) },
)
/** Mostly alone: of many random operations together one nearly always refuses. */
const operations = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(operation) },
  { weight: 1, arbitrary: fc.array(operation, { minLength: 2, maxLength: 4 }) },
)
const session = fc.nat(2)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('multi' as const), session, operations }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('get' as const, 'exists' as const, 'children' as const),
      session,
      path: pathOf,
      watch: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('close' as const, 'expire' as const), session }) },
)

describe('the embedded store and its slow twin', function () {
  this.timeout(30_000)

  it('agree on every answer, refusal, watch and statistic', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), async (steps) => {
        const store = EmbeddedStore.inMemory({ now: () => 1 })
        const twin = new Twin()
        const told: string[] = []
        // Session numbers of the twin rise with each new session; `sessions` are those of the moment.
        let made = 0
        const names = new Map<string, number>()
        const connect = () => {
          const session = store.connect()
          names.set(session.sessionId, made)
          return { session, number: made++ }
        }
        const sessions: { session: MetadataStore; number: number }[] = [connect(), connect(), connect()]
        let watches = 0
        for (const each of steps) {
          const { session, number } = sessions[each.session]!
          if (!('path' in each) && each.kind !== 'multi') {
            await (each.kind === 'close' ? session.close() : store.expire(session.sessionId))
            twin.end(number)
            sessions[each.session] = connect()
          } else if (each.kind === 'multi') {
            const real = await session.multi(each.operations).then(
              (results) => results.map((result) => (result.kind === 'create' ? result.path : result.kind)),
              (error: StoreError) => ({ code: error.code, at: error.operation ?? 0 }),
            )
            assert.deepEqual(real, twin.multi(each.operations, number))
          } else {
            const id = watches++
            const watch = each.watch ? (event: WatchEvent) => told.push(`${id} ${event.kind} ${event.path}`) : undefined
            const node = twin.find(each.path)
            const kind = each.kind === 'children' ? 'children' : 'data'
            if (each.watch && (node !== undefined || each.kind === 'exists'))
              twin.watches = [...twin.watches, { id, session: number, path: each.path, kind }]
            if (each.kind === 'children') {
              const wanted =
                node &&
                twin
                  .childrenOf(each.path)
                  .map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
                  .sort()
              assert.deepEqual(await session.children(each.path, watch), wanted ?? null)
            } else if (each.kind === 'exists') assert.equal((await session.exists(each.path, watch))?.version, node?.version)
            else assert.equal(String((await session.get(each.path, watch))?.data), String(node?.data))
          }
          assert.deepEqual(told, twin.told)
        }
        const reader = store.connect()
        for (const node of twin.nodes) {
          const stat = await reader.exists(node.path)
          const { czxid, mzxid, pzxid, version } = node
          const children = node.childrenMade - node.childrenGone
          assert.deepEqual(
            stat && [
              stat.czxid,
              stat.mzxid,
              stat.pzxid,
              stat.version,
              stat.cversion,
              stat.numChildren,
              names.get(stat.ephemeralOwner ?? '') ?? null,
            ],
            [czxid, mzxid, pzxid, version, node.childrenMade + node.childrenGone, children, node.owner],
            node.path,
          )
        }
        for (const path of paths) assert.equal((await reader.exists(path)) === null, twin.find(path) === undefined, path)
        await store.close()
      }),
      { numRuns: 500, ...(process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }) },
    )
  })

  it('refuse what a session asks after its end', async () => {
    const store = EmbeddedStore.inMemory({ now: () => 1 })
    const session = store.connect()
    const states: string[] = []
    session.onSession((state) => states.push(state))
    await store.expire(session.sessionId)
    await assert.rejects(session.get('/'), (error) => error instanceof StoreError && error.code === 'SESSION_EXPIRED')
    await assert.rejects(session.create('/a', null), (error) => error instanceof StoreError && error.code === 'SESSION_EXPIRED')
    await session.close()
    assert.deepEqual([session.state, states], ['expired', ['expired']])
    await store.close()
    assert.throws(
      () => store.connect(),
      (error) => error instanceof StoreError && error.code === 'CLOSED',
    )
  })

  it('tell whoever wrote, and nobody else, of a watcher that throws', async () => {
    const store = EmbeddedStore.inMemory({ now: () => 1 })
    const session = store.connect()
    await session.create('/a', null)
    await session.get('/a', () => {
      throw new Error('a defect in a watcher')
    })
    const [set, read] = await Promise.allSettled([session.set('/a', Buffer.from('1')), session.get('/a')])
    assert.equal(set.status, 'rejected')
    assert.ok(read.status === 'fulfilled' && read.value?.data?.toString() === '1')
    await session.set('/a', null)
    await store.close()
  })
})
