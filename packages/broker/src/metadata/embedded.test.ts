import { EmbeddedStore } from './embedded.js'
import { storeContract } from './store-contract.js'

storeContract('the embedded store in memory', async () => {
  const store = EmbeddedStore.inMemory({ now: () => 1_700_000_000_000 })
  return { connect: async () => store.connect(), close: () => store.close() }
})
