/** Who waits when a broker throttles: since KIP-219 the broker answers at once and the client keeps quiet for the time that it was told. */

import type { ApiName } from '@mq/protocol'

/** From these versions on the client does the waiting; before them the broker had waited already. Source: KIP-219. */
const CLIENT_SIDE_THROTTLE: Partial<Record<ApiName, number>> = {
  Produce: 6,
  Fetch: 8,
  Metadata: 6,
  ApiVersions: 2,
  OffsetCommit: 4,
  OffsetFetch: 4,
}

/** Has the client to wait for what this answer says, or has the broker waited already? */
export function clientThrottles(api: ApiName, version: number): boolean {
  const from = CLIENT_SIDE_THROTTLE[api]
  return from !== undefined && version >= from
}
