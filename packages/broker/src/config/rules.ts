/** Rules of single configs that the language of configs has no word for. */
import type { Rule } from '@mq/protocol'

/** Releases whose protocols or formats differ, each with the number of its inner versions: `3.5` knows `3.5-IV0` to `3.5-IV2`. */
const RELEASES: Readonly<Record<string, number>> = {
  '0.8.0': 0,
  '0.8.1': 0,
  '0.8.2': 0,
  '0.9.0': 0,
  '0.10.0': 2,
  '0.10.1': 3,
  '0.10.2': 1,
  '0.11.0': 3,
  '1.0': 1,
  '1.1': 1,
  '2.0': 2,
  '2.1': 3,
  '2.2': 2,
  '2.3': 2,
  '2.4': 2,
  '2.5': 1,
  '2.6': 1,
  '2.7': 3,
  '2.8': 2,
  '3.0': 2,
  '3.1': 1,
  '3.2': 1,
  '3.3': 4,
  '3.4': 1,
  '3.5': 3,
  '3.6': 3,
  '3.7': 5,
  '3.8': 1,
  '3.9': 1,
}

/** A release, with or without its inner version or its patch: `3.9`, `3.9-IV0`, `3.9.1`. */
export const release: Rule = {
  text: 'a release from 0.8.0 to 3.9, such as 3.9 or 3.9-IV0',
  check(value) {
    const match = /^((?:0\.\d+\.\d+)|(?:[1-9]\d*\.\d+))(?:\.\d+)*(?:-IV(\d+))?$/.exec(String(value))
    const inner = match === null ? undefined : RELEASES[match[1]!]
    const known = inner !== undefined && (match![2] === undefined || Number(match![2]) < inner)
    return known ? null : 'must be a release from 0.8.0 to 3.9, such as 3.9 or 3.9-IV0'
  },
}

/** Replicas as `partition:broker` pairs, or `*` for all. */
export const throttledReplicas: Rule = {
  text: '[partition]:[broker],[partition]:[broker],... or *',
  check(value) {
    const replicas = value as readonly string[]
    const fit = replicas.every((one) => /^(\d+:\d+)?$/.test(one)) || replicas.join('') === '*'
    return fit ? null : 'must be * or a list of replicas as partition:broker,partition:broker,...'
  },
}
