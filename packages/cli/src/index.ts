export { run } from './program'
export type { Terminal } from './terminal'
