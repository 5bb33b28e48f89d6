/** The contract suite against a real ZooKeeper, so that the embedded store is held to what ZooKeeper does and not to what we think. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apacheTools } from '../testing/apache-tools.test.support.js'
import { storeContract } from './store-contract.test.support.js'
import { ZooKeeperForTests } from './zookeeper.test.support.js'

describe('a real ZooKeeper', function () {
  this.timeout(120_000) // the server's start
  storeContract('ZooKeeper 3.8', async () => {
    const tools = await apacheTools()
    const dir = mkdtempSync(join(tmpdir(), 'mq-zookeeper-'))
    const server = await tools.startZooKeeper({ port: await tools.freePort(), dir })
    return {
      connect: () => ZooKeeperForTests.connect(server.connect),
      async close() {
        await server.stop()
        rmSync(dir, { recursive: true, force: true })
      },
    }
  })
})
