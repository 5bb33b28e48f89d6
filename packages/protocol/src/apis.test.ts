// The table of APIs against what both releases say of themselves, and against what a running 3.9.1 broker offered.

import assert from 'node:assert/strict'
import { vectors } from '../../../conformance/index.js'
import { APIS, type Api, apiByKey, requestHeaderVersion, responseHeaderVersion } from './index.js'

interface Said {
  readonly key: number
  readonly name: string
  readonly lowestSupported: number
  readonly highestIncludingUnstable: number
  readonly clusterAction: boolean
  readonly requestHeaderVersion: Record<string, number>
  readonly responseHeaderVersion: Record<string, number>
}

const table: readonly Api[] = Object.values(APIS)

describe('the table of APIs', () => {
  for (const [release, column] of [
    ['3.9.1', '3.9'],
    ['4.4.0', '4.4'],
  ] as const) {
    it(`has the keys, versions and header versions of ${release}`, () => {
      const said = vectors.json<Said[]>(`messages/${release}/versions.json`)
      for (const row of said) {
        const api = apiByKey(row.key)
        assert.ok(api, `${row.name} ${row.key}`)
        if (row.name !== 'ListClientMetricsResources') assert.equal(api.name, row.name)
        if (row.highestIncludingUnstable < 0) assert.equal(api.versions[column], null, row.name)
        else assert.deepEqual(api.versions[column], [row.lowestSupported, row.highestIncludingUnstable], row.name)
        for (const [version, header] of Object.entries(row.requestHeaderVersion))
          assert.equal(requestHeaderVersion(api, Number(version)), header, `${row.name} v${version} request header`)
        for (const [version, header] of Object.entries(row.responseHeaderVersion))
          assert.equal(responseHeaderVersion(api, Number(version)), header, `${row.name} v${version} response header`)
      }
      const offered = said.filter((row) => row.highestIncludingUnstable >= 0).map((row) => row.key)
      const ours = table.filter((api) => api.versions[column] !== null).map((api) => api.key)
      assert.deepEqual(
        ours,
        offered.sort((a, b) => a - b),
      )
    })
  }

  it('knows what a 3.9.1 broker in ZooKeeper mode offers live', () => {
    const live = new Map<number, readonly [number, number]>()
    const line = /(\w+)\((\d+)\): (\d+)(?: to (\d+))? \[usable/g
    for (const [, , key, min, max] of vectors.text('golden/api-versions-3.9.1-zk.txt').matchAll(line))
      live.set(Number(key), [Number(min), Number(max ?? min)])
    assert.ok(live.size > 60)
    for (const api of table) assert.deepEqual(api.versions.live ?? undefined, live.get(api.key), api.name)
  })

  it('has a schema for every version it names, with the key of its row', () => {
    for (const api of table) {
      const [min, max] = api.versions.all
      const versions = min === max ? `${min}` : `${min}-${max}`
      for (const schema of [api.request, api.response]) {
        assert.equal(schema.key, api.key, schema.name)
        assert.equal(schema.versions, versions, schema.name)
      }
    }
  })

  it('does not know other keys', () => {
    assert.equal(apiByKey(999), undefined)
    assert.equal(apiByKey(-1), undefined)
  })
})
