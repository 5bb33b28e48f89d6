/** Pure: how repeated figures are told: lowest, middle, highest, and as a ratio between two sides of one run. */

export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

export function spreadOf(figures: readonly number[]): Spread {
  if (figures.length === 0) throw new RangeError('no figures')
  const sorted = [...figures].sort((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { min: sorted[0]!, median, max: sorted.at(-1)! }
}

/** Ours to the peer's, by medians. */
export const ratioOf = (ours: Spread, peer: Spread): number => ours.median / peer.median

const short = (figure: number): string =>
  figure >= 100 ? figure.toFixed(0) : figure >= 1 ? figure.toFixed(2) : figure.toFixed(4)

export const told = ({ min, median, max }: Spread): string => `${short(min)} / ${short(median)} / ${short(max)}`
