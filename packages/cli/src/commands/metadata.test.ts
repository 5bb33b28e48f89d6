import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBroker } from '@mq/broker'
import { mq } from '../testing/memory-terminal.js'

describe('mq metadata', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mq-metadata-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('exports what a stopped broker knows, and says so of a running one', async () => {
    const data = join(folder, 'data')
    const broker = await startBroker({ directory: data })
    try {
      assert.equal(
        (await mq(['-b', broker.bootstrap, 'topics', 'create', 'orders', '-p', '2', '-c', 'retention.ms=77000'])).code,
        0,
      )
      const running = await mq(['metadata', 'export', '--data', data])
      assert.equal(running.code, 1)
      assert.match(running.error, /is in use by .*; stop that broker first/)
    } finally {
      await broker.close()
    }
    const printed = await mq(['metadata', 'export', '--data', data])
    assert.equal(printed.code, 0, printed.error)
    const nodes = JSON.parse(printed.out) as { path: string }[]
    assert.ok(nodes.some(({ path }) => path === '/brokers/topics/orders'))
    const file = join(folder, 'znodes.json')
    const written = await mq(['--json', 'metadata', 'export', file, '--data', data])
    assert.deepEqual(JSON.parse(written.out), { file, nodes: nodes.length })
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), nodes)
  })

  it('imports into a directory: the topic has its configs again', async () => {
    const data = join(folder, 'data')
    const file = join(folder, 'znodes.json')
    let broker = await startBroker({ directory: data })
    await mq(['-b', broker.bootstrap, 'topics', 'create', 'orders', '-c', 'retention.ms=77000'])
    await broker.close()
    await mq(['metadata', 'export', file, '--data', data])
    broker = await startBroker({ directory: data })
    await mq(['-b', broker.bootstrap, 'configs', 'unset', 'orders', 'retention.ms'])
    await broker.close()
    const imported = await mq(['--json', 'metadata', 'import', file, '--data', data])
    assert.equal(imported.code, 0, imported.error)
    assert.ok(JSON.parse(imported.out).nodes > 0)
    broker = await startBroker({ directory: data })
    try {
      const { out } = await mq(['-b', broker.bootstrap, '--json', 'configs', 'describe', 'orders'])
      assert.ok(
        JSON.parse(out).some((each: { name: string; value: string }) => each.name === 'retention.ms' && each.value === '77000'),
      )
    } finally {
      await broker.close()
    }
  })

  it('exits with 1 for a directory that no broker used or a file that is no tree, with 2 without a directory', async () => {
    const unused = await mq(['metadata', 'export', '--data', join(folder, 'nothing')])
    assert.equal(unused.code, 1)
    assert.match(unused.error, /no broker has used this directory/)
    const file = join(folder, 'broken.json')
    writeFileSync(file, '{ not json')
    assert.equal((await mq(['metadata', 'import', file, '--data', folder])).code, 1)
    assert.equal((await mq(['metadata', 'export'])).code, 2)
  })
})
