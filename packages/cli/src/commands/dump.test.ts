import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { encodeRequest } from '@mq/protocol'
import { vectors } from '../../../../conformance/index.js'
import { progressOf } from '../progress.js'
import { MemoryTerminal, mq } from '../testing/memory-terminal.js'

describe('mq dump', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mq-dump-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const write = (name: string, bytes: Buffer): string => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    return path
  }

  it('reads every file of the directories that Kafka wrote, and as many records as they hold', async () => {
    for (const variant of ['main/clean', 'old-formats/clean']) {
      const { logs, folder: unpacked, remove } = vectors.extractDatadir(variant)
      try {
        let files = 0
        let records = 0
        for (const entry of readdirSync(logs, { recursive: true, withFileTypes: true })) {
          const path = join(entry.parentPath, entry.name)
          if (!entry.isFile() || !/\.(log|index|timeindex|txnindex|snapshot|metadata|properties)$|-checkpoint$/.test(entry.name))
            continue
          const { code, out, error } = await mq(['--json', 'dump', '--records', path])
          assert.equal(code, 0, `${path.slice(unpacked.length)}: ${error}`)
          const entries = out
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line) as Record<string, unknown>)
          assert.ok(entries.every((each) => !('problem' in each)))
          files++
          if (entry.name.endsWith('.log')) records += entries.filter((each) => 'headers' in each).length
        }
        assert.ok(files > 10, `${files} files of ${variant}`)
        assert.ok(records > 100, `${records} records in ${variant}`)
      } finally {
        remove()
      }
    }
  })

  it('prints a capture of request frames through the schemas', async () => {
    const frames = [
      encodeRequest({ api: 'Metadata', version: 9, correlationId: 7, clientId: 'c', body: { topics: [{ name: 'orders' }] } }),
      encodeRequest({ api: 'Heartbeat', version: 3, correlationId: 8, clientId: null, body: { groupId: 'g', memberId: 'm' } }),
    ]
    const file = write('capture.bin', Buffer.concat(frames.flat()))
    const { code, out } = await mq(['--json', 'dump', file])
    assert.equal(code, 0)
    const [metadata, heartbeat] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      [metadata.api, metadata.version, metadata.correlationId, metadata.clientId, metadata.body.topics[0].name],
      ['Metadata', 9, 7, 'c', 'orders'],
    )
    assert.deepEqual([heartbeat.api, heartbeat.clientId, heartbeat.body.groupId], ['Heartbeat', null, 'g'])
    assert.match((await mq(['dump', file])).out, /^api: Metadata {2}version: 9 {2}correlationId: 7 /)
  })

  it('tells damage where it stands, goes on as far as it can, and exits with 1', async () => {
    const whole = Buffer.concat(
      encodeRequest({ api: 'Heartbeat', version: 3, correlationId: 8, clientId: 'c', body: { groupId: 'g' } }),
    )
    const cut = Buffer.from(whole)
    cut.writeInt32BE(whole.length - 4 - 3)
    const capture = await mq(['dump', write('damaged.bin', Buffer.concat([whole, cut.subarray(0, whole.length - 3)]))])
    assert.equal(capture.code, 1)
    assert.match(capture.out, /^api: Heartbeat .*\nproblem: /)
    const segment = await mq(['dump', write('00000000000000000000.log', Buffer.alloc(30, 1))])
    assert.equal(segment.code, 1)
    assert.match(segment.error, /a problem was found, see above/)
  })

  it('exits with 2 for a file that is nothing it knows, with 1 for one that is not there', async () => {
    const unknown = await mq(['dump', write('letter.txt', Buffer.from('dear'))])
    assert.equal(unknown.code, 2)
    assert.match(unknown.error, /letter\.txt/)
    const missing = await mq(['dump', join(folder, '00000000000000000001.log')])
    assert.equal(missing.code, 1)
    assert.match(missing.error, /ENOENT/)
  })

  it('draws a progress bar for long work where somebody watches, and none elsewhere', () => {
    const terminal = new MemoryTerminal()
    progressOf(terminal, 'dump', 2 ** 30).end()
    const screen = new PassThrough()
    Object.assign(screen, { isTTY: true, columns: 80, cursorTo: () => {}, clearLine: () => {}, moveCursor: () => {} })
    terminal.progress = screen
    progressOf(terminal, 'short', 100).end()
    assert.equal(screen.read(), null)
    const progress = progressOf(terminal, 'dump a.log', 2 ** 30)
    progress.at(2 ** 29)
    progress.end()
    assert.match(String(screen.read()), /dump a\.log/)
  })
})
