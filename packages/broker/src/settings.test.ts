// What stops a start and what it says; the two profiles.
import assert from 'node:assert/strict'
import { readConfig } from './config/read.js'
import { fileProfile, standaloneProfile } from './profile.js'
import { readSettings } from './settings.js'
import { StartError } from './start-error.js'

const refused = (given: Record<string, string>) => {
  try {
    readSettings(new Map(Object.entries({ 'mq.metadata.store': 'embedded', listeners: 'PLAINTEXT://a:1', ...given })))
    return 'started'
  } catch (error) {
    assert.equal(error instanceof StartError, true, String(error))
    return (error as StartError).message
  }
}

describe('Settings', () => {
  it('of the standalone profile are sound, without a warning', () => {
    const { settings, listeners, logDirectories, brokerId } = readSettings(standaloneProfile({ directory: '/tmp/x', port: 9092 }))
    assert.deepEqual(settings.warnings, [])
    assert.deepEqual(logDirectories, ['/tmp/x'])
    assert.equal(brokerId, null)
    assert.deepEqual(listeners.advertised, [{ name: 'PLAINTEXT', host: 'localhost', port: 9092 }])
    assert.equal(settings.values['offsets.topic.replication.factor'], 1)
    assert.equal(settings.values['group.initial.rebalance.delay.ms'], 0)
    assert.equal(settings.values['auto.create.topics.enable'], true)
  })

  it('name key, value and what is allowed', () => {
    assert.equal(
      refused({ 'num.partitions': 'many' }),
      'Invalid value many for configuration num.partitions: must be a whole number from -2147483648 to 2147483647',
    )
    assert.match(
      refused({ 'log.segment.bytes': '13' }),
      /Invalid value 13 for configuration log\.segment\.bytes: must be at least 14/,
    )
    assert.match(refused({ 'log.message.timestamp.type': 'x' }), /must be one of CreateTime, LogAppendTime/)
    assert.match(refused({ 'inter.broker.protocol.version': '9.9' }), /must be a release/)
    assert.match(refused({ 'log.retention.hours': '0' }), /must be -1 \(no limit\) or at least 1/)
    assert.match(refused({ 'max.connections.per.ip.overrides': 'x:y' }), /address:count pairs/)
    assert.match(
      refused({ 'broker.id': '1001' }),
      /broker\.id must be from -1 to reserved\.broker\.max\.id \(1000\), and is 1001/,
    )
    assert.match(refused({ 'broker.id': '1', 'node.id': '2' }), /must be equal/)
    assert.match(refused({ 'log.dirs': '/a,/a' }), /names \/a twice/)
  })

  it('refuse what would be unsafe to ignore', () => {
    assert.match(
      refused({ 'authorizer.class.name': 'kafka.security.authorizer.AclAuthorizer' }),
      /authorizer\.class\.name cannot be used/,
    )
    assert.match(
      refused({ 'create.topic.policy.class.name': 'com.example.Policy' }),
      /create\.topic\.policy\.class\.name cannot be used/,
    )
    assert.match(refused({ 'security.inter.broker.protocol': 'SSL' }), /cannot be used/)
    assert.equal(refused({ 'security.inter.broker.protocol': 'PLAINTEXT', 'authorizer.class.name': '' }), 'started')
  })

  it('want to be told to keep the metadata here when the file names ZooKeeper', () => {
    const withZooKeeper = new Map([['zookeeper.connect', 'localhost:2181']])
    assert.throws(
      () => readSettings(withZooKeeper),
      /zookeeper\.connect=localhost:2181 names a ZooKeeper ensemble.*--override mq\.metadata\.store=embedded/,
    )
    assert.equal(readSettings(withZooKeeper.set('mq.metadata.store', 'embedded')).brokerId, null)
  })

  it('warn of unknown keys with the nearest known one, and of what has no effect', () => {
    const { warnings } = readConfig(
      new Map([
        ['log.retetion.hours', '1'],
        ['entirely.strange', '1'],
        ['num.io.threads', '16'],
        ['num.network.threads', '3'],
        ['listener.name.internal.ssl.keystore.location', '/x'],
        ['listener.name.internal.toString', '/x'],
      ]),
    )
    assert.deepEqual(warnings, [
      'log.retetion.hours is not known; did you mean log.retention.hours?',
      'entirely.strange is not known',
      'listener.name.internal.ssl.keystore.location has no effect: ssl.keystore.location is not set per listener in this version',
      'listener.name.internal.toString is not known',
      'without effect in this version: num.io.threads',
    ])
  })

  it('take a KRaft file without its controller, with one warning', () => {
    const { given, warnings } = fileProfile(
      new Map([
        ['process.roles', 'broker,controller'],
        ['node.id', '7'],
        ['controller.quorum.voters', '1@localhost:9093'],
        ['listeners', 'PLAINTEXT://:9092,CONTROLLER://:9093'],
        ['controller.listener.names', 'CONTROLLER'],
        ['advertised.listeners', 'PLAINTEXT://localhost:9092'],
        ['listener.security.protocol.map', 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT'],
      ]),
    )
    assert.equal(warnings.length, 1)
    assert.match(
      warnings[0]!,
      /process\.roles, controller\.quorum\.voters, controller\.listener\.names, the listener CONTROLLER of listeners/,
    )
    const { brokerId, listeners } = readSettings(given)
    assert.equal(brokerId, 7)
    assert.deepEqual(
      listeners.listeners.map(({ name }) => name),
      ['PLAINTEXT'],
    )
  })
})
