/**
 * What every MetadataStore must do: one suite, run for the embedded store and for a real ZooKeeper (which is the arbiter). Each test works
 * under a folder of its own, so that one store can serve the whole suite.
 */
import assert from 'node:assert/strict'
import { type MetadataStore, StoreError, type StoreErrorCode, type WatchEvent } from './store.js'

export interface StoreUnderTest {
  connect(): Promise<MetadataStore>
  close(): Promise<void>
}

const text = (value: string) => Buffer.from(value, 'utf8')

async function fails(code: StoreErrorCode, call: Promise<unknown>, operation?: number): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof StoreError, String(error))
    assert.equal(error.code, code)
    assert.equal(error.operation, operation)
    return true
  })
}

export function storeContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the metadata store's contract`, () => {
    let under: StoreUnderTest
    let store: MetadataStore
    let base: string
    let testNumber = 0
    const opened: MetadataStore[] = []
    const another = async () => {
      const session = await under.connect()
      opened.push(session)
      return session
    }

    before(async () => {
      under = await open()
    })
    beforeEach(async () => {
      store = await another()
      base = `/contract-${testNumber++}`
      await store.create(base, null)
    })
    afterEach(async () => {
      for (const session of opened.splice(0)) if (session.state === 'connected') await session.close()
    })
    after(() => under?.close())

    it('tells null, empty and other data apart', async () => {
      for (const [at, data] of [null, Buffer.alloc(0), text('{"version":1}'), Buffer.from([0, 255, 10])].entries()) {
        assert.equal(await store.create(`${base}/n${at}`, data), `${base}/n${at}`)
        assert.deepEqual((await store.get(`${base}/n${at}`))?.data, data)
      }
    })

    it('answers null for what is not there', async () => {
      assert.equal(await store.get(`${base}/none`), null)
      assert.equal(await store.exists(`${base}/none`), null)
      assert.equal(await store.children(`${base}/none`), null)
    })

    it('takes the names that Kafka uses', async () => {
      const names = ['<default>', 'a%2Fb', 'CN%3Dx%2CO%3Dy', '*', 'x.y_z-1', 'größe', '日本']
      for (const each of names) await store.create(`${base}/${each}`, null)
      assert.deepEqual(await store.children(base), [...names].sort())
    })

    it('refuses a creation without parent, twice, or under an ephemeral node', async () => {
      await fails('NO_NODE', store.create(`${base}/a/b`, null))
      await store.create(`${base}/a`, null, { ephemeral: true })
      await fails('NODE_EXISTS', store.create(`${base}/a`, null))
      await fails('NO_CHILDREN_FOR_EPHEMERALS', store.create(`${base}/a/b`, null))
    })

    it('refuses paths that are not absolute, have empty or relative parts, end in a slash, or have refused characters', async () => {
      for (const path of [
        'a',
        '',
        `${base}/`,
        `${base}//a`,
        `${base}/./a`,
        `${base}/..`,
        `${base}/\u0000`,
        `${base}/\u{1f600}`,
      ]) {
        await fails('BAD_ARGUMENTS', store.create(path, null))
        await fails('BAD_ARGUMENTS', store.get(path))
      }
    })

    it('sets only the version that was named; version 0 is a version like any other', async () => {
      await store.create(`${base}/a`, text('0'))
      assert.equal((await store.set(`${base}/a`, text('1'), { version: 0 })).version, 1)
      await fails('BAD_VERSION', store.set(`${base}/a`, text('x'), { version: 0 }))
      await fails('BAD_VERSION', store.delete(`${base}/a`, { version: 0 }))
      assert.equal((await store.set(`${base}/a`, null)).version, 2)
      assert.deepEqual(await store.get(`${base}/a`).then((node) => [node?.data, node?.stat.version]), [null, 2])
      await fails('NO_NODE', store.set(`${base}/b`, null))
    })

    it('removes a node of the named version that has no children', async () => {
      await store.create(`${base}/a`, null)
      await store.create(`${base}/a/b`, null)
      await fails('NOT_EMPTY', store.delete(`${base}/a`))
      await store.delete(`${base}/a/b`, { version: 0 })
      await store.delete(`${base}/a`)
      assert.equal(await store.exists(`${base}/a`), null)
      await fails('NO_NODE', store.delete(`${base}/a`))
    })

    it('keeps the statistics of a node as ZooKeeper does', async () => {
      await store.create(`${base}/p`, text('12345'))
      const created = await store.exists(`${base}/p`)
      assert.ok(created !== null)
      assert.equal(created.czxid, created.mzxid)
      assert.equal(created.czxid, created.pzxid)
      assert.deepEqual(
        [created.version, created.cversion, created.dataLength, created.numChildren, created.ephemeralOwner],
        [0, 0, 5, 0, null],
      )
      await store.create(`${base}/p/c`, null, { ephemeral: true })
      await store.set(`${base}/p`, text('1'))
      const changed = await store.exists(`${base}/p`)
      const child = await store.exists(`${base}/p/c`)
      assert.ok(changed !== null && child !== null)
      assert.equal(child.ephemeralOwner, store.sessionId)
      assert.equal(changed.czxid, created.czxid)
      assert.equal(changed.pzxid, child.czxid)
      assert.ok(changed.mzxid > child.czxid && child.czxid > created.czxid)
      assert.deepEqual([changed.version, changed.cversion, changed.dataLength, changed.numChildren], [1, 1, 1, 1])
      await store.delete(`${base}/p/c`)
      const after = await store.exists(`${base}/p`)
      assert.ok(after !== null)
      assert.ok(after.pzxid > changed.mzxid)
      assert.deepEqual([after.cversion, after.numChildren, after.mzxid], [2, 0, changed.mzxid])
    })

    it('numbers sequential nodes by the creations under their parent, whatever was removed', async () => {
      await store.create(`${base}/plain`, null)
      assert.equal(await store.create(`${base}/config_change_`, null, { sequential: true }), `${base}/config_change_0000000001`)
      await store.delete(`${base}/plain`)
      const path = await store.create(`${base}/isr_`, text('x'), { sequential: true, ephemeral: true })
      assert.equal(path, `${base}/isr_0000000002`)
      assert.equal((await store.exists(path))?.ephemeralOwner, store.sessionId)
    })

    it('does all of a multi or nothing, each operation seeing those before it', async () => {
      await store.create(`${base}/a`, text('0'))
      const results = await store.multi([
        { kind: 'check', path: `${base}/a`, version: 0 },
        { kind: 'set', path: `${base}/a`, data: text('1'), version: 0 },
        { kind: 'create', path: `${base}/a/b`, data: null },
        { kind: 'create', path: `${base}/a/b/s-`, data: text('s'), sequential: true },
        { kind: 'delete', path: `${base}/a/b/s-0000000000`, version: 0 },
      ])
      assert.deepEqual(
        results.map((result) => result.kind),
        ['check', 'set', 'create', 'create', 'delete'],
      )
      assert.ok(results[1]?.kind === 'set' && results[1].stat.version === 1)
      assert.ok(results[3]?.kind === 'create' && results[3].path === `${base}/a/b/s-0000000000`)
      assert.deepEqual(await store.children(`${base}/a/b`), [])
      const [a, b] = [await store.exists(`${base}/a`), await store.exists(`${base}/a/b`)]
      assert.equal(a?.mzxid, b?.czxid) // one transaction
    })

    it('leaves everything as it was when one operation of a multi refuses, and says which', async () => {
      await store.create(`${base}/a`, text('0'))
      await store.set(`${base}/a`, text('1'))
      const create = { kind: 'create', path: `${base}/new`, data: null } as const
      await fails('BAD_VERSION', store.multi([create, { kind: 'check', path: `${base}/a`, version: 0 }]), 1)
      await fails('BAD_VERSION', store.multi([create, { kind: 'set', path: `${base}/a`, data: null, version: 0 }]), 1)
      await fails('BAD_VERSION', store.multi([create, { kind: 'delete', path: `${base}/a`, version: 0 }]), 1)
      await fails('NODE_EXISTS', store.multi([create, create]), 1)
      await fails('NO_NODE', store.multi([{ kind: 'check', path: `${base}/none`, version: 0 }, create]), 0)
      await fails(
        'NOT_EMPTY',
        store.multi([
          { kind: 'create', path: `${base}/a/b`, data: null },
          { kind: 'delete', path: `${base}/a` },
        ]),
        1,
      )
      assert.deepEqual(await store.children(base), ['a'])
      assert.deepEqual((await store.get(`${base}/a`))?.data, text('1'))
      assert.equal((await store.exists(`${base}/a`))?.version, 1)
    })

    it('lets calls take effect in the order in which they were made', async () => {
      const calls: Promise<unknown>[] = []
      calls.push(store.create(`${base}/a`, text('0')))
      for (let i = 0; i < 50; i++) calls.push(store.set(`${base}/a`, text(String(i + 1)), { version: i }))
      const read = store.get(`${base}/a`)
      calls.push(store.delete(`${base}/a`))
      assert.deepEqual((await read)?.data, text('50'))
      await Promise.all(calls)
    })

    it('removes the ephemerals of a session that ends, and only these', async () => {
      const other = await another()
      await other.create(`${base}/e1`, null, { ephemeral: true })
      await other.create(`${base}/e2`, null, { ephemeral: true })
      await other.create(`${base}/stays`, null)
      await store.create(`${base}/mine`, null, { ephemeral: true })
      const states: string[] = []
      other.onSession((state) => states.push(state))
      await other.close()
      assert.deepEqual(await store.children(base), ['mine', 'stays'])
      assert.deepEqual([other.state, states], ['closed', ['closed']])
      await fails('CLOSED', other.get(base))
      await fails('CLOSED', other.create(`${base}/late`, null))
    })

    it('gives each session its own name', async () => {
      assert.notEqual((await another()).sessionId, (await another()).sessionId)
    })

    /** Sets watches by `watch`, changes by another session, and says what they were told. */
    async function told(
      watch: (tell: (event: WatchEvent) => void) => Promise<unknown>,
      change: (by: MetadataStore) => Promise<unknown>,
    ) {
      const events: string[] = []
      await watch((event) => events.push(`${event.kind} ${event.path.slice(base.length)}`))
      const by = await another()
      await change(by)
      await store.exists(base) // a read after the change answers after the watch
      return events
    }

    it('tells a watch of data of a set or a removal, once', async () => {
      const path = `${base}/a`
      await store.create(path, null)
      const twice = async (by: MetadataStore) => {
        await by.set(path, null)
        await by.set(path, null)
      }
      assert.deepEqual(await told((tell) => store.get(path, tell), twice), ['dataChanged /a'])
      assert.deepEqual(await told((tell) => store.exists(path, tell), twice), ['dataChanged /a'])
      assert.deepEqual(
        await told(
          (tell) => store.get(path, tell),
          (by) => by.create(`${path}/c`, null),
        ),
        [],
      )
      assert.deepEqual(
        await told(
          (tell) => store.exists(path, tell),
          (by) => by.delete(`${path}/c`),
        ),
        [],
      )
      assert.deepEqual(
        await told(
          (tell) => store.get(path, tell),
          (by) => by.delete(path),
        ),
        ['deleted /a'],
      )
    })

    it('tells a watch of existence of a creation; a get that found nothing leaves no watch', async () => {
      const path = `${base}/a`
      assert.deepEqual(
        await told(
          (tell) => store.exists(path, tell),
          (by) => by.create(path, null),
        ),
        ['created /a'],
      )
      await store.delete(path)
      assert.deepEqual(
        await told(
          (tell) => store.get(path, tell),
          (by) => by.create(path, null),
        ),
        [],
      )
      await store.delete(path)
      assert.deepEqual(
        await told(
          (tell) => store.children(path, tell),
          (by) => by.create(path, null),
        ),
        [],
      )
    })

    it('tells a watch of children of one that came or went, or of the end of the node', async () => {
      const path = `${base}/a`
      await store.create(path, null)
      const watch = (tell: (event: WatchEvent) => void) => store.children(path, tell)
      assert.deepEqual(await told(watch, (by) => by.create(`${path}/b`, null)), ['childrenChanged /a'])
      assert.deepEqual(await told(watch, (by) => by.set(`${path}/b`, null)), [])
      assert.deepEqual(await told(watch, (by) => by.create(`${path}/b/c`, null)), ['childrenChanged /a'].slice(1))
      assert.deepEqual(
        await told(
          async () => {},
          (by) => by.delete(`${path}/b/c`),
        ),
        [],
      )
      assert.deepEqual(await told(watch, (by) => by.delete(`${path}/b`)), ['childrenChanged /a'])
      assert.deepEqual(await told(watch, (by) => by.delete(path)), ['deleted /a'])
    })

    it('tells watches what a multi and the end of a session did', async () => {
      await store.create(`${base}/a`, null)
      const watch = async (tell: (event: WatchEvent) => void) => {
        await store.exists(`${base}/b`, tell)
        await store.get(`${base}/a`, tell)
      }
      const change = (by: MetadataStore) =>
        by.multi([
          { kind: 'create', path: `${base}/b`, data: null, ephemeral: true },
          { kind: 'set', path: `${base}/a`, data: null },
        ])
      assert.deepEqual((await told(watch, change)).sort(), ['created /b', 'dataChanged /a'])
      const owner = opened.at(-1)!
      assert.deepEqual(
        await told(
          (tell) => store.exists(`${base}/b`, tell),
          () => owner.close(),
        ),
        ['deleted /b'],
      )
    })
  })
}
