import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { startBroker } from '@mq/broker'
import { vectors } from '../../../../conformance/index.js'
import { MemoryTerminal, mq, type Ran } from '../testing/memory-terminal.js'

interface Expected {
  readonly partitions: {
    readonly [name: string]: { readonly logStartOffset: number; readonly read_uncommitted: { readonly records: number } }
  }
  readonly damages?: readonly { readonly partition: string | null; readonly file: string }[]
}

const lines = ({ out }: Ran): Record<string, unknown>[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** A screen that keeps what was drawn. */
function screen(): PassThrough {
  return Object.assign(new PassThrough(), { isTTY: true, columns: 80, cursorTo() {}, clearLine() {}, moveCursor() {} })
}

describe('mq log', function () {
  this.timeout(30_000)
  let folder: ReturnType<typeof vectors.extractDatadir>
  afterEach(() => folder?.remove())

  for (const variant of ['main/clean', 'main/sigkill', 'old-formats/clean']) {
    it(`verify finds ${variant} sound, and exits with 0`, async () => {
      folder = vectors.extractDatadir(variant)
      const { code, out, error } = await mq(['--json', 'log', 'verify', folder.logs])
      assert.equal(error, '')
      assert.equal(code, 0)
      const { problems, partitions, findings } = JSON.parse(out)
      assert.equal(problems, 0)
      assert.equal(partitions, Object.keys(vectors.json<Expected>(`datadirs/${variant}.expected.json`).partitions).length)
      assert.ok(findings.every(({ level }: { level: string }) => level === 'note'))
    })
  }

  for (const variant of ['main/damaged', 'main/no-checkpoints', 'main/indexes-removed']) {
    it(`verify names each damage of ${variant}, and exits with 1`, async () => {
      folder = vectors.extractDatadir(variant)
      const { code, out, error } = await mq(['log', 'verify', folder.logs])
      assert.equal(code, 1)
      assert.match(error, /logs: \d+ problems were found\n$/)
      for (const { partition, file } of vectors.json<Expected>(`datadirs/${variant}.expected.json`).damages!) {
        const named = partition === null ? file : partition.endsWith('-delete') ? partition : `${partition}/${file}`
        assert.ok(out.includes(`: ${named}`), named)
      }
    })
  }

  it('verify says what a start does, line by line, and sums up; notes can be left out', async () => {
    folder = vectors.extractDatadir('main/damaged')
    const { out } = await mq(['log', 'verify', join(folder.logs, 'plain-1'), '--quiet'])
    assert.equal(
      out,
      [
        'problem: plain-1/00000000000000000237.log, byte 5462: a batch of 624 bytes, of which 587 are there',
        '  a start: cuts the segment at byte 5462',
        'PARTITIONS  SEGMENTS  BATCHES  BYTES  PROBLEMS  NOTES',
        '1           3         45       22095  1         2',
        '',
      ].join('\n'),
    )
    assert.match(
      (await mq(['log', 'verify', join(folder.logs, 'plain-1')])).out,
      /^note: plain-1\/00000000000000000319\.snapshot/m,
    )
    const one = await mq(['--json', 'log', 'verify', join(folder.logs, 'plain-2', '00000000000000000329.log')])
    assert.equal(one.code, 1)
    assert.deepEqual(
      JSON.parse(one.out).findings.filter(({ level }: { level: string }) => level === 'problem'),
      [
        {
          level: 'problem',
          file: 'plain-2/00000000000000000329.log',
          position: 0,
          offset: 329,
          problem: 'the CRC does not match',
          atStart: 'cuts the segment at byte 0',
        },
      ],
    )
  })

  it('verify and dump exit with 2 for what is no log, with 1 for what is not there', async () => {
    folder = vectors.extractDatadir('main/clean')
    const properties = join(folder.logs, 'meta.properties')
    for (const args of [
      ['verify', properties],
      ['verify'],
      ['verify', folder.logs, '--index-interval', 'much'],
      ['dump', properties],
      ['dump', join(folder.logs, '..')],
      ['dump', folder.logs, '--from', '-1'],
      ['neither'],
    ]) {
      const ran = await mq(['log', ...args])
      assert.equal(ran.code, 2, args.join(' '))
      assert.notEqual(ran.error, '')
    }
    for (const command of ['verify', 'dump']) {
      const ran = await mq(['log', command, join(folder.logs, 'nowhere-0')])
      assert.equal(ran.code, 1)
      assert.match(ran.error, /nowhere-0.*\n$|ENOENT/)
    }
    for (const text of ['verify', 'dump']) assert.match((await mq(['log', '--help'])).out, new RegExp(text))
    assert.match((await mq(['log', 'verify', '--help'])).out, /--index-interval/)
  })

  it('verify draws a bar for long work where somebody watches', async () => {
    const work = mkdtempSync(join(tmpdir(), 'mq-log-'))
    try {
      const broker = await startBroker({ directory: join(work, 'data') })
      await mq(['-b', broker.bootstrap, 'topics', 'create', 't', '-p', '1'])
      await mq(['-b', broker.bootstrap, 'produce', 't'], new MemoryTerminal(Array(20).fill('x'.repeat(900_000))))
      const running = await mq(['--json', 'log', 'verify', join(work, 'data')])
      assert.equal(running.code, 0, running.out)
      assert.ok(
        JSON.parse(running.out).findings.some(
          ({ file, problem }: { file: string; problem: string }) => file === '.lock' && problem.startsWith('in use by'),
        ),
      )
      await broker.close()
      const watched = new MemoryTerminal()
      watched.progress = screen()
      const { code, out } = await mq(['log', 'verify', join(work, 'data')], watched)
      assert.equal(code, 0, out)
      assert.match(String((watched.progress as PassThrough).read()), /verify .*100%/)
      const dumped = new MemoryTerminal()
      dumped.progress = screen()
      assert.equal(lines(await mq(['--json', 'log', 'dump', join(work, 'data', 't-0')], dumped)).length, 20)
      assert.match(String((dumped.progress as PassThrough).read()), /dump .*%/)
      const onScreen = new MemoryTerminal()
      Object.assign(onScreen, { progress: screen(), isOutputWatched: true })
      await mq(['log', 'dump', join(work, 'data', 't-0')], onScreen)
      assert.equal((onScreen.progress as PassThrough).read(), null, 'no bar between the lines')
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  })

  it('dump prints every record of every format, with the markers of transactions', async () => {
    for (const variant of ['main/clean', 'old-formats/clean']) {
      folder = vectors.extractDatadir(variant)
      const { partitions } = vectors.json<Expected>(`datadirs/${variant}.expected.json`)
      const entries = lines(await mq(['--json', 'log', 'dump', '--values', folder.logs]))
      for (const [name, { logStartOffset, read_uncommitted }] of Object.entries(partitions)) {
        const records = entries.filter(({ of, offset }) => of === name && (offset as number) >= logStartOffset)
        assert.equal(records.filter((record) => !('control' in record)).length, read_uncommitted.records, name)
      }
      assert.equal(entries.filter(({ control }) => control !== undefined).length > 0, variant === 'main/clean')
      folder.remove()
    }
  })

  it('dump begins and ends where it is told, with sizes or with values', async () => {
    folder = vectors.extractDatadir('main/clean')
    const partition = join(folder.logs, 'txn-0')
    assert.equal(
      (await mq(['log', 'dump', partition, '--from', '21', '--to', '23'])).out,
      'offset: 21  timestamp: 1700001500060  sequence: 6  keyBytes: 6  valueBytes: 55  headers: 0\n' +
        'offset: 22  timestamp: 1795985331244  control: COMMIT\n',
    )
    assert.match(
      (await mq(['log', 'dump', partition, '--from', '21', '--to', '22', '-v'])).out,
      /key: "key-51" {2}value: "value-50006-größe /,
    )
    const [record] = lines(await mq(['--json', 'log', 'dump', partition, '--from', '21', '--to', '22', '--values']))
    assert.equal(Buffer.from(record!.key as string, 'base64').toString(), 'key-51')
    const segment = lines(await mq(['--json', 'log', 'dump', join(partition, '00000000000000000091.log')]))
    assert.deepEqual([segment[0]!.offset, segment.at(-1)!.offset], [91, 97])
  })

  it('dump tells damage where it stands, goes on behind it, and exits with 1', async () => {
    folder = vectors.extractDatadir('main/clean')
    const path = join(folder.logs, 'plain-0', '00000000000000000117.log')
    const size = statSync(path).size
    truncateSync(path, size - 10)
    const ran = await mq(['--json', 'log', 'dump', join(folder.logs, 'plain-0')])
    assert.equal(ran.code, 1)
    const entries = lines(ran)
    const at = entries.findIndex((entry) => 'problem' in entry)
    assert.match(String(entries[at]!.problem), /^a batch of \d+ bytes, of which \d+ are there$/)
    assert.equal(entries[at]!.file, '00000000000000000117.log')
    assert.equal(entries[at + 1]!.offset, 228)
    assert.match(ran.error, /a problem was found, see above/)
  })

  it('touches nothing', async () => {
    folder = vectors.extractDatadir('main/damaged')
    const data = join(folder.logs, 'plain-0', '00000000000000000228.log')
    appendFileSync(data, 'x')
    const before = [readFileSync(data), statSync(data).mtimeMs]
    await mq(['log', 'verify', folder.logs])
    await mq(['log', 'dump', folder.logs])
    assert.deepEqual([readFileSync(data), statSync(data).mtimeMs], before)
    assert.ok(!existsSync(join(folder.logs, '.lock')))
  })
})
