/** The real ZooKeeper and Apache Kafka for peer tests: `tools/apache.mjs`, with types. */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface ApacheTools {
  startZooKeeper(options: { port: number; dir: string }): Promise<{ connect: string; stop(): Promise<void> }>
  startApache(options: {
    port: number
    dir: string
    zookeeper: string
    config: Record<string, string | number | boolean>
  }): Promise<{ stop(): Promise<void> }>
  freePort(): Promise<number>
  runTool(tool: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }>
}

export function apacheTools(): Promise<ApacheTools> {
  return import(pathToFileURL(resolve(__dirname, '..', '..', '..', '..', join('tools', 'apache.mjs'))).href)
}
