import assert from 'node:assert/strict'
import type { ApiName } from '@mq/protocol'
import { clientThrottles } from './throttle.js'
import { CLIENT_VERSIONS } from './versions.js'

describe('a throttled client', () => {
  it('waits after every answer of the versions it speaks, but for DescribeCluster', () => {
    const deaf = Object.entries(CLIENT_VERSIONS).filter(([api, [, latest]]) => !clientThrottles(api as ApiName, latest))
    assert.deepEqual(
      deaf.map(([api]) => api),
      ['DescribeCluster'],
    )
  })

  it('does not wait where the broker has waited already', () => {
    assert.equal(clientThrottles('JoinGroup', 2), false)
    assert.equal(clientThrottles('JoinGroup', 3), true)
    assert.equal(clientThrottles('Produce', 5), false)
    assert.equal(clientThrottles('IncrementalAlterConfigs', 0), true)
  })
})
