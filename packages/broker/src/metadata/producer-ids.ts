/**
 * Blocks of 1000 producer ids that the store gives out one after the other (KIP-730 keeps ZooKeeper's form). A block is taken by a
 * conditional write, so that no two brokers get the same; what is left of a block at a stop is never used.
 */
import type { ProducerIdBlocks } from '../producer-ids.js'
import { isStoreError, type MetadataStore } from './store.js'
import { type ProducerIdBlock, ZNODES } from './znodes.js'

export const PRODUCER_ID_BLOCK_SIZE = 1000

/**
 * A store that counts on beside this one (of the Java broker whose directory was adopted) is taken never to get beyond it: above it no id
 * of ours is one that the other gives out later, to a producer whose batches would then look like duplicates, acknowledged and lost.
 */
export const IDS_OF_ANOTHER_STORE = 2 ** 40

/** All ids that fit a number exactly are used up (Kafka's limit is 2^63; at a million producers a second this one is 285 years away). */
export class ProducerIdsExhaustedError extends Error {
  override readonly name = 'ProducerIdsExhaustedError'
  constructor(readonly lastId: number) {
    super(`no producer id is left after ${lastId}`)
  }
}

const ATTEMPTS = 100

/** The store as the source of blocks for this broker's ProducerIds. */
export function producerIdBlocks(store: MetadataStore, brokerId: number): ProducerIdBlocks {
  return {
    async take() {
      const { firstId, lastId } = await takeBlock(store, brokerId)
      return { first: firstId, count: lastId - firstId + 1 }
    },
  }
}

/** Takes the next block from the store. */
export async function takeBlock(store: MetadataStore, brokerId: number): Promise<ProducerIdBlock> {
  const block = await replaceBlock(store, (now) => {
    const firstId = now === null ? 0 : now.lastId + 1
    return { broker: brokerId, firstId, lastId: firstId + PRODUCER_ID_BLOCK_SIZE - 1 }
  })
  return block!
}

/**
 * Sees to it that no id up to `used` is given out any more. Ids that stand on disk may be of a Java broker with a ZooKeeper of its own: a
 * new producer with a used id would have its batches taken for duplicates, acknowledged and lost.
 */
export async function reserveUpTo(store: MetadataStore, brokerId: number, used: number): Promise<void> {
  await replaceBlock(store, (now) => {
    const lastId = now?.lastId ?? -1
    if (lastId >= used) return null
    const end = Math.ceil((used + 1) / PRODUCER_ID_BLOCK_SIZE) * PRODUCER_ID_BLOCK_SIZE
    return { broker: brokerId, firstId: end - PRODUCER_ID_BLOCK_SIZE, lastId: end - 1 }
  })
}

/** Writes what `choose` makes of the present block, if nobody was faster; null leaves it. */
async function replaceBlock(
  store: MetadataStore,
  choose: (now: ProducerIdBlock | null) => ProducerIdBlock | null,
): Promise<ProducerIdBlock | null> {
  const path = ZNODES.producerIdBlock.path()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const node = await store.get(path)
    const now = node === null ? null : ZNODES.producerIdBlock.decode(node.data, path)
    const block = choose(now)
    if (block === null) return now
    if (!Number.isSafeInteger(block.lastId)) throw new ProducerIdsExhaustedError(now?.lastId ?? -1)
    const data = ZNODES.producerIdBlock.encode(block)
    try {
      if (node === null) await store.create(path, data)
      else await store.set(path, data, { version: node.stat.version })
      return block
    } catch (error) {
      if (!isStoreError(error, 'BAD_VERSION', 'NODE_EXISTS', 'NO_NODE')) throw error // another broker took it: look again
    }
  }
  throw new Error(`${path} changed ${ATTEMPTS} times while a block was to be taken`)
}
