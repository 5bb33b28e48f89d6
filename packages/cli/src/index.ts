/** @mq/cli as a library: run a command line of `mq` inside a Node process. */
export { run } from './program.js'
export type { Terminal } from './terminal.js'
