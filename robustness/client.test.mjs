// @mq/client while brokers come and go: an idle connection that was closed is no matter, and a cluster that is down is waited for in peace.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Kafka, logLevel } from '@mq/client'
import { freePort } from '../tools/apache.mjs'
import { newFolder, startBrokerProcess } from './broker-process.mjs'

const DOWN_MS = 15_000

describe('@mq/client and brokers that come and go', function () {
  this.timeout(90_000)
  const data = newFolder('client', { inMemory: true })
  let broker
  let producer
  afterEach(async () => {
    await producer?.disconnect()
    await broker?.die()
    rmSync(data, { recursive: true, force: true })
  })
  const kafkaOn = (port, options = {}) =>
    new Kafka({ clientId: 'robust', brokers: [`127.0.0.1:${port}`], logLevel: logLevel.NOTHING, ...options })

  it('sends on after the broker closed its idle connections (A-059)', async () => {
    broker = await startBrokerProcess({ data, config: { 'connections.max.idle.ms': 1000 } })
    producer = kafkaOn(broker.port).producer()
    await producer.connect()
    await producer.send({ topic: 'idle', messages: [{ value: 'before' }] })
    await pause(2500)
    const [{ baseOffset }] = await producer.send({ topic: 'idle', messages: [{ value: 'after' }] })
    assert.equal(baseOffset, '1')
  })

  it('is quiet while all brokers are down, and goes on when they are back (A-063)', async () => {
    const port = await freePort()
    broker = await startBrokerProcess({ data, port })
    let attempts = 0
    const socketFactory = ({ host, port: to, onConnect }) => {
      attempts++
      return connect({ host, port: to }, onConnect)
    }
    producer = kafkaOn(port, { socketFactory, retry: { retries: 100, initialRetryTime: 300, maxRetryTime: 5000 } }).producer()
    await producer.connect()
    await producer.send({ topic: 'down', messages: [{ value: 'before' }] })
    await broker.die()
    const before = { attempts, cpu: process.cpuUsage() }
    const sent = producer.send({ topic: 'down', messages: [{ value: 'meanwhile' }] })
    await pause(DOWN_MS)
    const { user, system } = process.cpuUsage(before.cpu)
    assert.ok((user + system) / 1000 < DOWN_MS / 10, `${Math.round((user + system) / 1000)} ms of CPU in ${DOWN_MS} ms`)
    assert.ok(attempts - before.attempts < 40, `${attempts - before.attempts} attempts`)
    broker = await startBrokerProcess({ data, port })
    const back = performance.now()
    const [{ baseOffset }] = await sent
    assert.equal(baseOffset, '1')
    assert.ok(performance.now() - back < 20_000)
  })
})
