/** How property tests of this room run: the seed of a failure is printed by fast-check, and SEED repeats it. */
import type fc from 'fast-check'

export function propertyOptions<T>(numRuns = 200): fc.Parameters<T> {
  const seed = process.env.SEED
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) }
}
