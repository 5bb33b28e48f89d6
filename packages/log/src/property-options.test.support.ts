/** How property tests run: on the seed in `SEED` when it is given, and with the seed in the message when they fail. */
export const propertyOptions = (numRuns: number): { numRuns: number; seed?: number } =>
  process.env.SEED === undefined ? { numRuns } : { numRuns, seed: Number(process.env.SEED) }
