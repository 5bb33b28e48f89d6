/** The contract suite against a real ZooKeeper, so that the embedded store is held to what ZooKeeper does and not to what we think. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { storeContract } from './store-contract.test.support.js'
import { ZooKeeperForTests } from './zookeeper.test.support.js'

const ROOT = resolve(__dirname, '..', '..', '..', '..')

interface ZooKeeperServer {
  readonly connect: string
  stop(): Promise<void>
}
interface Tools {
  startZooKeeper(options: { port: number; dir: string }): Promise<ZooKeeperServer>
  freePort(): Promise<number>
}

describe('a real ZooKeeper', function () {
  this.timeout(120_000) // the server's start
  storeContract('ZooKeeper 3.8', async () => {
    const tools = (await import(pathToFileURL(join(ROOT, 'tools', 'apache.mjs')).href)) as Tools
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
