// The rows of the interop table: each client, how its program is made and with which command it starts.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { goPrograms } from '../tools/toolchain/go.mjs'
import { classPath, compiled, SMALL_JVM } from '../tools/toolchain/java.mjs'
import { npmClients } from '../tools/toolchain/npm.mjs'
import { python } from '../tools/toolchain/python.mjs'
import { needSystem } from '../tools/toolchain/system.mjs'
import { STEPS } from './steps.mjs'
import { TOOL_STEPS } from './tools.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))

/** `prepare` brings what the row needs and returns its start command; it throws `Missing` where that cannot be had. */
export const ROWS = [
  { name: 'kcat', steps: STEPS, prepare: kcat },
  { name: 'kafkajs', steps: STEPS, prepare: () => node('kafkajs.mjs') },
  { name: 'platformatic', steps: STEPS, prepare: () => node('platformatic.mjs') },
  { name: 'java-3.9.1', steps: STEPS, prepare: () => java('kafka-3.9.1') },
  { name: 'java-4.4.0', steps: STEPS, prepare: () => java('kafka-clients-4.4.0') },
  { name: 'kafka-tools', steps: TOOL_STEPS, prepare: kafkaTools },
  { name: 'confluent-kafka', steps: STEPS, prepare: () => inPython('confluent.py') },
  { name: 'kafka-python', steps: STEPS, prepare: () => inPython('kafka_python.py') },
  { name: 'aiokafka', steps: STEPS, prepare: () => inPython('aio_kafka.py') },
  { name: 'franz-go', steps: STEPS, prepare: () => inGo('franz') },
  { name: 'sarama', steps: STEPS, prepare: () => inGo('sarama') },
  { name: 'kafka-go', steps: STEPS, prepare: () => inGo('kafkago') },
]

async function kcat() {
  await needSystem('kcat')
  return { command: process.execPath, args: [join(HERE, 'node', 'kcat.mjs')] }
}

async function node(file) {
  return { command: process.execPath, args: [join(HERE, 'node', file), await npmClients()] }
}

async function java(release) {
  return { command: 'java', args: [...SMALL_JVM, '-cp', await compiled('interop', join(HERE, 'java'), release), 'Interop'] }
}

async function kafkaTools() {
  await classPath('kafka-3.9.1')
  return {}
}

async function inPython(file) {
  return { command: await python(), args: ['-u', join(HERE, 'python', file)] }
}

async function inGo(name) {
  return { command: join(await goPrograms(), name), args: [] }
}
