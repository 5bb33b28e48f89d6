// Drives kcat for the interop table: one process of it for each thing that is asked.
import { spawn } from 'node:child_process'
import { serve } from './answer.mjs'

const [bootstrap] = process.argv.slice(2)
const KEY_END = '\u0001'
const RECORD_END = '\u0002'
const members = new Map()

serve(
  {
    hello: async () => ({
      version: /Version (\S+)/.exec((await kcat(['-V'])).stdout)[1],
      codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
      can: ['idempotent', 'static', 'transactions', 'seek', 'codes'],
    }),
    produce,
    consume,
    seek,
    join,
    assignment: ({ member }) => members.get(member).look(),
    leave: ({ member }) => members.get(member).stop(),
    transaction: ({ id }) => kcat(['-P', '-t', 'no-such-topic', '-X', `transactional.id=${id}`], 'x'),
  },
  () => undefined,
)

const READ_MS = 30_000

/** Runs kcat to its end; fails with what it said. One that reads is stopped when it does not get all it wants. */
function kcat(args, input = '') {
  return new Promise((done, fail) => {
    const child = spawn('kcat', args[0] === '-V' ? args : ['-b', bootstrap, ...args])
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
    })
    child.stderr.on('data', (text) => {
      stderr += text
    })
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.on('error', fail)
    const late = setTimeout(() => child.kill('SIGKILL'), READ_MS)
    child.on('close', (_, signal) => {
      clearTimeout(late)
      if (signal === 'SIGKILL') done({ stdout: stdout.slice(0, stdout.lastIndexOf('\n') + 1), stderr })
    })
    child.on('close', (code) => (code === 0 ? done({ stdout, stderr }) : fail(new Error(`kcat ended with ${code}: ${stderr}`))))
  })
}

/** Headers are given once for all records of a call. */
async function produce({ topic, codec, idempotent, records }) {
  const headers = records[0].headers.flatMap(([name, value]) => ['-H', `${name}=${value}`])
  const input = records.map(({ key, value }) => `${key}${KEY_END}${value}`).join(RECORD_END)
  const options = ['-X', 'acks=all', '-X', `compression.codec=${codec}`, '-X', `enable.idempotence=${idempotent}`]
  await kcat(['-P', '-t', topic, '-K', KEY_END, '-D', RECORD_END, ...options, ...headers], input)
  return { at: [] }
}

async function consume({ topic, group, count }) {
  const { stdout } = await kcat(['-G', group, '-c', String(count), '-J', '-X', 'auto.offset.reset=earliest', topic])
  return { records: recordsIn(stdout) }
}

async function seek({ topic, timestamp, count }) {
  const { stdout } = await kcat(['-C', '-t', topic, '-o', `s@${timestamp}`, '-c', String(count), '-J'])
  return { records: recordsIn(stdout) }
}

function recordsIn(stdout) {
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const { partition, offset, ts, key, payload, headers = [] } = JSON.parse(line)
    const pairs = Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at], headers[2 * at + 1] ?? ''])
    return { partition, offset, timestamp: ts, key, value: payload, headers: pairs }
  })
}

/** A member is a kcat that goes on reading; it tells its assignments on standard error. */
async function join({ member, topic, group, instanceId }) {
  const fixed = instanceId === undefined ? [] : ['-X', `group.instance.id=${instanceId}`]
  const options = [
    '-X',
    'session.timeout.ms=10000',
    '-X',
    'heartbeat.interval.ms=300',
    '-X',
    'partition.assignment.strategy=range',
    ...fixed,
  ]
  const child = spawn('kcat', ['-b', bootstrap, '-G', group, ...options, topic], { stdio: ['ignore', 'ignore', 'pipe'] })
  const state = { partitions: [], rebalances: 0 }
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
    for (let end = said.indexOf('\n'); end >= 0; end = said.indexOf('\n')) {
      const line = said.slice(0, end)
      said = said.slice(end + 1)
      if (/rebalanced .*assigned:/.test(line)) {
        state.rebalances += 1
        state.partitions = [...line.slice(line.indexOf('assigned:')).matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1]))
      } else if (/revoked:/.test(line)) state.partitions = []
    }
  })
  const gone = new Promise((done) => child.on('close', done))
  members.set(member, {
    look: () => state,
    stop: async () => {
      child.kill('SIGTERM')
      await gone
    },
  })
}
