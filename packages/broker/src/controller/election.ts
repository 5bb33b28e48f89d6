/** Registration of this broker, and of this broker as the controller. Both are ephemeral: they end with the session. */
import type { BrokerImage, EndpointImage } from '../metadata/image.js'
import { isStoreError, type MetadataStore } from '../metadata/store.js'
import { ZNODES } from '../metadata/znodes.js'
import type { ControllerFence } from './writes.js'

export interface Registration {
  readonly brokerId: number
  readonly endpoints: readonly EndpointImage[]
  readonly rack: string | null
}

/** Another broker of the same id lives. */
export class BrokerIdTakenError extends Error {
  override readonly name = 'BrokerIdTakenError'
  constructor(readonly brokerId: number) {
    super(`a broker with id ${brokerId} is registered already`)
  }
}

/** Writes `/brokers/ids/N`; its transaction is the broker epoch. */
export async function registerBroker(store: MetadataStore, registration: Registration, now: number): Promise<BrokerImage> {
  const { brokerId, endpoints, rack } = registration
  const path = ZNODES.broker.path(brokerId)
  const data = ZNODES.broker.encode({ endpoints, rack, timestamp: now, jmxPort: -1, features: {} })
  try {
    await store.create(path, data, { ephemeral: true })
  } catch (error) {
    if (isStoreError(error, 'NODE_EXISTS')) throw new BrokerIdTakenError(brokerId)
    throw error
  }
  const stat = await store.exists(path)
  if (stat === null) throw new BrokerIdTakenError(brokerId)
  return { id: brokerId, epoch: stat.czxid, rack, endpoints }
}

export interface Election {
  readonly epoch: number
  readonly fence: ControllerFence
}

/** Becomes the controller and raises the epoch, in one transaction; null when another one is. */
export async function electController(store: MetadataStore, brokerId: number, now: number): Promise<Election | null> {
  const epochPath = ZNODES.controllerEpoch.path()
  if ((await store.exists(epochPath)) === null) {
    await store.create(epochPath, ZNODES.controllerEpoch.encode(0)).catch((error) => {
      if (!isStoreError(error, 'NODE_EXISTS')) throw error
    })
  }
  const node = await store.get(epochPath)
  if (node === null) return null
  const epoch = ZNODES.controllerEpoch.decode(node.data, epochPath) + 1
  try {
    const results = await store.multi([
      {
        kind: 'create',
        path: ZNODES.controller.path(),
        data: ZNODES.controller.encode({ brokerId, timestamp: now }),
        ephemeral: true,
      },
      { kind: 'set', path: epochPath, data: ZNODES.controllerEpoch.encode(epoch), version: node.stat.version },
    ])
    const written = results[1]
    return written?.kind === 'set' ? { epoch, fence: written.stat.version } : null
  } catch (error) {
    if (isStoreError(error, 'NODE_EXISTS', 'BAD_VERSION')) return null
    throw error
  }
}
