// Syntax of listeners, and the rules between listeners, advertised listeners and protocols.
import assert from 'node:assert/strict'
import { type ListenerConfig, readListeners } from './listeners.js'

const BASE: ListenerConfig = {
  listeners: 'PLAINTEXT://localhost:9092',
  'advertised.listeners': null,
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL',
  'inter.broker.listener.name': null,
  'controller.listener.names': null,
}
const read = (config: Partial<ListenerConfig>) => readListeners({ ...BASE, ...config })
const wrong = (config: Partial<ListenerConfig>) => {
  const listeners = read(config)
  return 'kind' in listeners ? listeners.message : JSON.stringify(listeners)
}

describe('Listeners', () => {
  it('are read with names in any letter case, IPv6 addresses and empty hosts', () => {
    const listeners = read({
      listeners: 'internal://[::1]:9093 , PLAINTEXT://:9092',
      'listener.security.protocol.map': 'INTERNAL:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    })
    assert.deepEqual('kind' in listeners ? listeners.message : listeners.listeners, [
      { name: 'INTERNAL', host: '::1', port: 9093 },
      { name: 'PLAINTEXT', host: '', port: 9092 },
    ])
  })

  it('may have one name and port for an IPv4 and an IPv6 address, and nothing else twice', () => {
    assert.equal('kind' in read({ listeners: 'PLAINTEXT://127.0.0.1:9092,PLAINTEXT://[::1]:9092' }), false)
    assert.match(wrong({ listeners: 'PLAINTEXT://127.0.0.1:9092,PLAINTEXT://127.0.0.2:9093' }), /PLAINTEXT stands twice/)
    assert.match(wrong({ listeners: 'PLAINTEXT://a:9092,SSL://a:9092' }), /port 9092 stands twice/)
  })

  for (const text of [
    '9092',
    'PLAINTEXT:9092',
    'PLAINTEXT://a:port',
    'PLAINTEXT://a:65536',
    'PLAINTEXT://::1:9092',
    'PLAINTEXT://a b:1',
  ]) {
    it(`refuse ${text} and say how one is written`, () => assert.match(wrong({ listeners: text }), /is not NAME:\/\/host:port/))
  }

  it('refuse what is not PLAINTEXT, by name', () => {
    assert.match(wrong({ listeners: 'SSL://a:1' }), /SSL wants SSL, and this version serves only PLAINTEXT/)
    assert.match(wrong({ listeners: 'SASL_PLAINTEXT://a:1' }), /serves only PLAINTEXT/)
    assert.match(wrong({ listeners: 'PLAINTXT://a:1' }), /PLAINTXT has no security protocol.*or write PLAINTEXT/)
    assert.match(wrong({ listeners: '' }), /names no listener/)
  })

  it('advertise themselves, or other addresses under the same names', () => {
    const same = read({})
    assert.deepEqual('kind' in same ? null : same.advertised, [{ name: 'PLAINTEXT', host: 'localhost', port: 9092 }])
    const other = read({ 'advertised.listeners': 'PLAINTEXT://public.example:19092' })
    assert.deepEqual('kind' in other ? null : other.advertised, [{ name: 'PLAINTEXT', host: 'public.example', port: 19092 }])
    assert.match(wrong({ 'advertised.listeners': 'INTERNAL://a:1' }), /INTERNAL is not one of the listeners PLAINTEXT/)
  })

  it('never advertise an address that no client can connect to, and say what to set', () => {
    assert.match(
      wrong({ listeners: 'PLAINTEXT://0.0.0.0:9092' }),
      /cannot be 0\.0\.0\.0.*set advertised\.listeners=PLAINTEXT:\/\/HOST:9092/,
    )
    assert.match(wrong({ 'advertised.listeners': 'PLAINTEXT://0.0.0.0:1' }), /cannot be 0\.0\.0\.0.*set PLAINTEXT:\/\/HOST:1/)
    assert.match(wrong({ 'advertised.listeners': 'PLAINTEXT://[::]:1' }), /cannot be ::/)
    assert.equal('kind' in read({ listeners: 'PLAINTEXT://0.0.0.0:9092', 'advertised.listeners': 'PLAINTEXT://a:1' }), false)
  })

  it('leave out the listeners of a KRaft controller', () => {
    const listeners = read({ listeners: 'PLAINTEXT://a:1,CONTROLLER://a:2', 'controller.listener.names': 'CONTROLLER' })
    assert.deepEqual('kind' in listeners ? null : listeners.listeners.map(({ name }) => name), ['PLAINTEXT'])
  })

  it('have one for other brokers', () => {
    assert.match(
      wrong({ 'inter.broker.listener.name': 'INTERNAL' }),
      /inter\.broker\.listener\.name: INTERNAL must be one of PLAINTEXT/,
    )
  })

  it('refuse a protocol map that is none', () => {
    assert.match(wrong({ 'listener.security.protocol.map': 'PLAINTEXT' }), /is not NAME:PROTOCOL/)
    assert.match(wrong({ 'listener.security.protocol.map': 'A:B' }), /is not NAME:PROTOCOL/)
  })
})
