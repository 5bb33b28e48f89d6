import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningBroker, startBroker } from '@mq/broker'
import { MemoryTerminal, type Ran, mq as run } from './testing/memory-terminal.js'

const MQ = join(__dirname, '..', 'bin', 'mq.js')

describe('mq, on a broker in the process', () => {
  let broker: RunningBroker
  const mq = (args: string, input?: string[]): Promise<Ran> =>
    run(['-b', broker.bootstrap, ...args.split(' ')], new MemoryTerminal(input))
  const json = async (args: string, input?: string[]) => {
    const ran = await mq(`--json ${args}`, input)
    assert.equal(ran.code, 0, ran.error)
    return JSON.parse(ran.out)
  }
  const lines = (ran: Ran) =>
    ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  before(async () => {
    broker = await startBroker()
  })
  beforeEach(() => broker.reset())
  after(() => broker.close())

  it('creates, lists, describes, extends and deletes topics', async () => {
    assert.deepEqual(await mq('topics create orders -p 2 -c retention.ms=60000'), { code: 0, out: 'created orders\n', error: '' })
    assert.deepEqual(await json('topics list'), [{ topic: 'orders' }])
    const described = await json('topics describe orders')
    assert.deepEqual(
      described.map(({ partition, leader }: { partition: number; leader: number }) => [partition, leader]),
      [
        [0, broker.brokerId],
        [1, broker.brokerId],
      ],
    )
    assert.deepEqual(await json('topics add-partitions orders 5'), [{ topic: 'orders', partitions: 5 }])
    assert.equal((await json('topics describe')).length, 5)
    assert.deepEqual(await json('topics delete orders'), [{ deleted: 'orders' }])
    assert.deepEqual(await json('topics list'), [])
  })

  it('prints tables for people', async () => {
    await mq('topics create a -p 1')
    const { out } = await mq('topics describe a')
    assert.equal(broker.brokerId, 1001)
    assert.equal(out, 'TOPIC  PARTITION  LEADER  REPLICAS  ISR\na      0          1001    1001      1001\n')
  })

  it('exits with 1 and one line when the work fails, and names the thing', async () => {
    await mq('topics create orders')
    const again = await mq('topics create orders')
    assert.equal(again.code, 1)
    assert.match(again.error, /^mq: the topic "orders" exists already.*\n$/)
    assert.equal((await mq('topics create orders --if-not-exists')).out, 'exists orders\n')
    const bad = await mq('topics create others -c retention.ms=never')
    assert.equal(bad.code, 1)
    assert.match(bad.error, /others/)
    const missing = await mq('topics delete nowhere')
    assert.equal(missing.code, 1)
    assert.match(missing.error, /nowhere/)
    assert.equal(missing.out, '')
  })

  it('exits with 2 when the command line is wrong, with 0 for help and version', async () => {
    for (const args of [
      'topics create',
      'no-such-command',
      'topics create t -p none',
      'produce t -z brotli',
      'groups reset-offsets g t',
      'topics add-partitions t many',
      'configs set t retention.ms',
      '-b , topics list',
    ]) {
      const ran = await mq(args)
      assert.equal(ran.code, 2, args)
      assert.notEqual(ran.error, '', args)
    }
    const help = await mq('--help')
    assert.equal(help.code, 0)
    for (const command of ['topics', 'produce', 'consume', 'groups', 'configs', 'metadata', 'dump'])
      assert.match(help.out, new RegExp(command))
    assert.deepEqual(await mq('--version'), { code: 0, out: '1.2.3\n', error: '' })
  })

  it('says which broker it cannot reach', async () => {
    const ran = await run(['-b', '127.0.0.1:1', 'topics', 'list'])
    assert.equal(ran.code, 1)
    assert.match(ran.error, /^mq: cannot reach a broker at 127\.0\.0\.1:1: .*Use --bootstrap-server/)
  })

  it('produces lines with keys, headers and each codec, and consumes them as text and as JSON', async () => {
    await mq('topics create t -p 1')
    for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
      const sent = await mq(`--json produce t -k : -H who=me -H who=you -z ${codec}`, [`k:${codec}`, 'no key'])
      assert.deepEqual(sent, { code: 0, out: '', error: '{"topic":"t","sent":2}\n' })
    }
    const text = await mq('consume t -f -e -k =')
    assert.deepEqual(text.out.split('\n').slice(0, 4), ['k=none', 'null=no key', 'k=gzip', 'null=no key'])
    assert.equal(text.error, '10 records read\n')
    const read = lines(await mq('--json consume t -f -n 3'))
    assert.equal(read.length, 3)
    const { timestamp, ...first } = read[0]
    assert.deepEqual(first, { topic: 't', partition: 0, offset: 0, key: 'k', value: 'none', headers: { who: ['me', 'you'] } })
    assert.ok(timestamp > 1_600_000_000_000)
    assert.deepEqual(await json('groups list'), [], 'groups of its own are deleted')
  })

  it('reads on as a group where it left off, and commits exactly what it printed', async () => {
    await mq('topics create t -p 1')
    await mq('produce t', ['a', 'b', 'c'])
    assert.equal((await mq('consume t -f -g readers -n 2')).out, 'a\nb\n')
    assert.deepEqual(await json('groups describe readers'), [{ topic: 't', partition: 0, committed: 2, end: 3, lag: 1 }])
    assert.equal((await mq('consume t -f -g readers -e')).out, 'c\n')
    assert.equal((await mq('consume t -f -g readers -e')).out, '')
  })

  it('ends consuming when it is interrupted', async () => {
    await mq('topics create t -p 1')
    await mq('produce t', ['a'])
    const terminal = new MemoryTerminal()
    const running = run(['-b', broker.bootstrap, 'consume', 't', '-f'], terminal)
    await terminal.printed('a\n')
    terminal.interrupt()
    assert.deepEqual(await running, { code: 0, out: 'a\n', error: '1 records read\n' })
  })

  it('does not create the topic that it cannot read', async () => {
    const ran = await mq('consume typo -f')
    assert.equal(ran.code, 1)
    assert.match(ran.error, /typo/)
    assert.deepEqual(await json('topics list'), [])
  })

  it('describes groups and their members, resets their offsets, deletes them', async () => {
    await mq('topics create t -p 1')
    await mq('produce t', ['a', 'b', 'c'])
    const terminal = new MemoryTerminal()
    const running = run(['-b', broker.bootstrap, 'consume', 't', '-f', '-g', 'g'], terminal)
    await terminal.printed('c\n')
    assert.deepEqual(await json('groups list'), [{ group: 'g', state: 'Stable', type: 'consumer', members: 1 }])
    const [member] = await json('groups members g')
    assert.equal(member.client, 'mq-cli')
    assert.equal((await mq('groups reset-offsets g t --to earliest')).code, 1, 'a group with members is left alone')
    terminal.interrupt()
    await running
    assert.deepEqual(await json('groups reset-offsets g t --to-offset 1 --dry-run'), [{ topic: 't', partition: 0, offset: '1' }])
    assert.equal((await json('groups describe g'))[0].committed, 3)
    for (const [to, committed] of [
      ['--to earliest', 0],
      ['--to latest', 3],
      ['--to-offset 99', 3],
      ['--to-timestamp 0', 0],
    ] as const) {
      await json(`groups reset-offsets g t ${to}`)
      assert.equal((await json('groups describe g'))[0].committed, committed, to)
    }
    assert.deepEqual(await json('groups delete g'), [{ deleted: 'g' }])
    assert.deepEqual(await json('groups list'), [])
  })

  it('says which group is not there, and which were deleted all the same', async () => {
    await mq('topics create t -p 1')
    await mq('produce t', ['a'])
    await mq('consume t -f -e -g here')
    for (const command of ['describe', 'members']) {
      const ran = await mq(`groups ${command} nowhere`)
      assert.deepEqual([ran.code, ran.out], [1, ''])
      assert.match(ran.error, /^mq: there is no group "nowhere".*\n$/)
    }
    const ran = await mq('groups delete here nowhere')
    assert.equal(ran.code, 1)
    assert.equal(ran.out, 'DELETED\nhere\n')
    assert.match(ran.error, /^mq: the group "nowhere" was not deleted: .*\n$/)
  })

  it('says which topic was not there to be deleted, and deletes the others', async () => {
    await mq('topics create t')
    const ran = await mq('topics delete t nowhere')
    assert.equal(ran.code, 1)
    assert.match(ran.error, /^mq: .*"nowhere".*\n$/)
    assert.deepEqual(await json('topics list'), [])
    assert.match((await mq('configs describe nowhere')).error, /"nowhere"/)
  })

  it('sends headers that are called like what every object has', async () => {
    await mq('topics create t -p 1')
    assert.equal((await mq('produce t -H constructor=a -H __proto__=b', ['x'])).code, 0)
    const [{ headers }] = lines(await mq('--json consume t -f -n 1'))
    assert.deepEqual(Object.entries(headers), [
      ['constructor', 'a'],
      ['__proto__', 'b'],
    ])
  })

  it('sends a line when it comes, not when the input ends, and ends at the first Ctrl-C', async () => {
    await mq('topics create t -p 1')
    const child = spawn(process.execPath, [MQ, '-b', broker.bootstrap, 'produce', 't'])
    try {
      child.stdin.write('a line\n')
      assert.equal((await mq('consume t -f -n 1')).out, 'a line\n')
      const ended = once(child, 'exit')
      child.kill('SIGINT')
      assert.deepEqual(await ended, [null, 'SIGINT'])
    } finally {
      child.kill('SIGKILL')
    }
  })

  it('leaves the group when it is asked to end', async () => {
    await mq('topics create t -p 1')
    await mq('produce t', ['a'])
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const child = spawn(process.execPath, [MQ, '-b', broker.bootstrap, 'consume', 't', '-f', '-g', signal])
      try {
        await once(child.stdout, 'data')
        const ended = once(child, 'exit')
        child.kill(signal)
        assert.deepEqual(await ended, [0, null])
      } finally {
        child.kill('SIGKILL')
      }
      assert.deepEqual(await json(`groups members ${signal}`), [])
    }
  })

  it('describes, sets and unsets configs', async () => {
    await mq('topics create t -p 1')
    assert.deepEqual(await json('configs set t retention.ms=1000 cleanup.policy=compact'), [
      { name: 'retention.ms', value: '1000' },
      { name: 'cleanup.policy', value: 'compact' },
    ])
    await json('configs unset t cleanup.policy')
    const own = (await json('configs describe t')).filter(({ source }: { source: string }) => source === 'topic')
    assert.deepEqual(own, [{ name: 'retention.ms', value: '1000', source: 'topic' }])
    const all = await json('configs describe t --all')
    assert.ok(all.some(({ name, value }: { name: string; value: string }) => name === 'cleanup.policy' && value === 'delete'))
    const ofBroker = await json(`configs describe ${broker.brokerId} -t broker --all`)
    assert.ok(ofBroker.some(({ name }: { name: string }) => name === 'log.retention.hours'))
    assert.equal((await mq('configs set t no.such.config=1')).code, 1)
  })

  it('ends without a complaint when the reader of its output goes away', async () => {
    await mq('topics create t -p 1')
    await mq('produce t', Array(50_000).fill('a line of some length, so that a pipe cannot hold them all'))
    const script = `node "${MQ}" -b ${broker.bootstrap} consume t -f | head -n 1; echo "exit \${PIPESTATUS[0]}"`
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { timeout: 20_000 })
    assert.equal(stdout, 'a line of some length, so that a pipe cannot hold them all\nexit 0\n')
    assert.equal(stderr, '')
  }).timeout(25_000)

  it('takes an IPv6 address', async () => {
    const ran = await run(['-b', `[::1]:${broker.port}`, '--json', 'topics', 'list'])
    // Only where the machine has no IPv6 at all may it fail, and then by not reaching it.
    if (ran.code === 0) assert.deepEqual(JSON.parse(ran.out), [])
    else assert.match(ran.error, /cannot reach a broker at \[::1\]:\d+: .*(EADDRNOTAVAIL|EAFNOSUPPORT|ECONNREFUSED)/)
  })
})
