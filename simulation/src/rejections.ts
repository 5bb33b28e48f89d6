/** Promises that nobody waits for: in a run they are a finding. What a killed process leaves behind is none. */
import { ProcessKilled } from './process.js'

export function watchRejections(found: (reason: unknown) => void): { end(): void } {
  const others = process.listeners('unhandledRejection')
  const listener = (reason: unknown) => {
    if (!(reason instanceof ProcessKilled)) found(reason)
  }
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', listener)
  return {
    end() {
      process.removeListener('unhandledRejection', listener)
      for (const other of others) process.on('unhandledRejection', other)
    },
  }
}
