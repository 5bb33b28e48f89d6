// Whole frames: the headers that go with each API and version, and the exceptions.

import assert from 'node:assert/strict'
import { vectors } from '../../../../conformance/index.js'
import {
  APIS,
  type Api,
  type ApiName,
  DecodeError,
  decodeBody,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  FetchRequest,
  Framing,
  type Input,
  readRequestHeader,
  SlabPool,
} from '../index.js'

const hex = (slices: readonly Buffer[]) => Buffer.concat(slices).toString('hex')

interface Exchange {
  readonly from: string
  readonly requestHex: string
  readonly responseHex: string | null
}

describe('frames', () => {
  it('carry size, key, version, correlation id and client id', () => {
    const frame = encodeRequest({ api: 'Metadata', version: 1, correlationId: 7, clientId: 'ab', body: { topics: null } })
    assert.equal(hex(frame), '00000010' + '0003' + '0001' + '00000007' + '00026162' + 'ffffffff')
  })

  it('have no client id in ControlledShutdown v0, and read back so', () => {
    const frame = Buffer.concat(
      encodeRequest({ api: 'ControlledShutdown', version: 0, correlationId: 9, clientId: 'ignored', body: { brokerId: 3 } }),
    )
    assert.equal(frame.toString('hex'), '0000000c' + '0007' + '0000' + '00000009' + '00000003')
    assert.deepEqual(readRequestHeader(frame.subarray(4)), {
      apiKey: 7,
      apiVersion: 0,
      correlationId: 9,
      clientId: null,
      bodyAt: 8,
    })
    const { clientId, body } = new Framing(APIS.ControlledShutdown, 0).readRequest(frame.subarray(4))
    assert.deepEqual([clientId, (body as { brokerId: number }).brokerId], [null, 3])
  })

  it('have tagged fields in the header from the first flexible version on', () => {
    const frame = encodeRequest({ api: 'Metadata', version: 9, correlationId: 7, clientId: null, body: {} })
    const header = readRequestHeader(Buffer.concat(frame).subarray(4))
    assert.deepEqual(header, { apiKey: 3, apiVersion: 9, correlationId: 7, clientId: null, bodyAt: 11 })
  })

  it('of ApiVersions answer without tagged fields in the header, also when flexible', () => {
    const body = { errorCode: 0, apiKeys: [{ apiKey: 18, minVersion: 0, maxVersion: 4 }] }
    const frame = encodeResponse({ api: 'ApiVersions', version: 3, correlationId: 5, body })
    assert.equal(hex(frame), '00000013' + '00000005' + '0000' + '02' + '001200000004' + '00' + '00000000' + '00')
    const { correlationId, body: read } = decodeResponse({
      api: 'ApiVersions',
      version: 3,
      frame: Buffer.concat(frame).subarray(4),
    })
    assert.equal(correlationId, 5)
    assert.equal(read.apiKeys[0]!.maxVersion, 4)
  })

  it('carry record slices by reference', () => {
    const records = [Buffer.from('first'), Buffer.from('second')]
    const frame = encodeResponse({
      api: 'Fetch',
      version: 11,
      correlationId: 1,
      body: { responses: [{ topic: 't', partitions: [{ records }] }] },
    })
    for (const slice of records) assert.ok(frame.includes(slice))
    const whole = Buffer.concat(frame)
    assert.equal(whole.readInt32BE(0), whole.length - 4)
    const { body } = decodeResponse({ api: 'Fetch', version: 11, frame: whole.subarray(4) })
    assert.equal(body.responses[0]!.partitions[0]!.records?.toString(), 'firstsecond')
  })

  it('are read even when key or version are none of ours', () => {
    const unknownKey = Buffer.from('03e7' + '0000' + '0000002a' + '0001' + '78', 'hex')
    assert.deepEqual(readRequestHeader(unknownKey), { apiKey: 999, apiVersion: 0, correlationId: 42, clientId: 'x', bodyAt: 11 })
    const futureApiVersions = Buffer.from('0012' + '0063' + '0000002a' + '0001' + '78' + '00', 'hex')
    assert.deepEqual(readRequestHeader(futureApiVersions), {
      apiKey: 18,
      apiVersion: 99,
      correlationId: 42,
      clientId: 'x',
      bodyAt: 12,
    })
  })

  it('too short for a header are a DecodeError that names the field', () => {
    const fields = ['requestApiKey', 'requestApiKey', 'requestApiVersion', 'requestApiVersion', 'correlationId']
    fields.forEach((field, size) => {
      assert.throws(
        () => readRequestHeader(Buffer.alloc(size)),
        (error) => error instanceof DecodeError && error.field === field && error.api === 'RequestHeader',
      )
    })
  })

  it('may have bytes behind the body, which are ignored as Kafka ignores them', () => {
    const frame = Buffer.concat(encodeRequest({ api: 'Fetch', version: 11, correlationId: 1, clientId: null, body: {} }))
    const header = readRequestHeader(frame.subarray(4))
    const body = Buffer.concat([frame.subarray(4 + header.bodyAt), Buffer.from('trailing')])
    assert.equal(decodeBody(FetchRequest, 11, body).maxBytes, 0x7fffffff)
  })

  it('of requests have at most 200,000 items', () => {
    const framing = new Framing(APIS.DescribeGroups, 0)
    const frameOf = (count: number) =>
      Buffer.concat(
        encodeRequest({
          api: 'DescribeGroups',
          version: 0,
          correlationId: 1,
          clientId: null,
          body: { groups: new Array(count).fill('g') },
        }),
      ).subarray(4)
    assert.equal((framing.readRequest(frameOf(200_000)).body as { groups: string[] }).groups.length, 200_000)
    assert.throws(
      () => framing.readRequest(frameOf(200_001)),
      (error) =>
        error instanceof DecodeError &&
        error.field === 'groups' &&
        /200001 items are more than the 200000 that may still come/.test(error.message),
    )
  })

  it('of a running broker to ApiVersions are read and written again, unknown versions of it answered in version 0', () => {
    const rows = vectors.json<{ case: string; request: string; reply: string }[]>('messages/live/apiversions.json')
    const answered = rows.filter((row) => row.reply !== 'closed')
    assert.ok(answered.length > 10)
    for (const row of answered) {
      const header = readRequestHeader(Buffer.from(row.request, 'hex').subarray(4))
      assert.equal(header.apiKey, 18, row.case)
      assert.equal(header.correlationId, 7, row.case)
      const version = header.apiVersion >= 0 && header.apiVersion <= 4 ? header.apiVersion : 0
      const { correlationId, body } = decodeResponse({
        api: 'ApiVersions',
        version,
        frame: Buffer.from(row.reply, 'hex').subarray(4),
      })
      if (version !== header.apiVersion) {
        assert.equal(body.errorCode, 35, row.case)
        assert.deepEqual(body.apiKeys, [{ apiKey: 18, minVersion: 0, maxVersion: 4 }], row.case)
      }
      assert.equal(hex(encodeResponse({ api: 'ApiVersions', version, correlationId, body })), row.reply, row.case)
    }
  })

  /** As a connection reads them: somewhere in a slab. */
  const behindOthers = (frame: Buffer): Buffer => {
    const { bytes } = new SlabPool().take(frame.length + 1000)
    frame.copy(bytes, 999)
    return bytes.subarray(999, 999 + frame.length)
  }

  it('between real brokers are read and written again, header and body, byte for byte', () => {
    let frames = 0
    for (const path of vectors.files('interbroker').filter((name) => name.endsWith('.json'))) {
      for (const exchange of vectors.json<Exchange[]>(path)) {
        const request = Buffer.from(exchange.requestHex, 'hex')
        const header = readRequestHeader(request)
        const api = Object.values(APIS).find(({ key }) => key === header.apiKey) as Api
        const name = api.name as ApiName
        const version = header.apiVersion
        const body = decodeBody(api.request, version, request.subarray(header.bodyAt)) as Input<Api['request']>
        const again = encodeRequest({ api: name, version, correlationId: header.correlationId, clientId: header.clientId, body })
        assert.equal(hex(again).slice(8), exchange.requestHex, `${name} v${version} request in ${path}`)
        const { correlationId, clientId } = header
        const whole = new Framing(api, version).readRequest(behindOthers(request))
        assert.deepEqual(whole, { correlationId, clientId, body }, `${name} v${version} request in ${path}`)
        frames++
        if (!exchange.responseHex) continue
        const response = decodeResponse({ api: name, version, frame: Buffer.from(exchange.responseHex, 'hex') })
        const answered = encodeResponse({
          api: name,
          version,
          correlationId: response.correlationId,
          body: response.body as object,
        })
        assert.equal(hex(answered).slice(8), exchange.responseHex, `${name} v${version} response in ${path}`)
      }
    }
    assert.ok(frames > 100, `${frames}`)
  })
})
