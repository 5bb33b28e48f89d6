/**
 * Which implementation of a codec runs: native code where it is installed, JavaScript or WebAssembly elsewhere.
 * Both give the same answers; tests run both.
 */

export type Way = 'native' | 'portable'

export interface Ways<Codec> {
  readonly portable: Codec
  /** Undefined where it is not installed. */
  readonly native: Codec | undefined
}

let preferred: Way = 'native'

/** For tests and for finding faults: prefer one way from now on. Starts as native; what is not installed is portable. */
export function useCodecs(way: Way): void {
  preferred = way
}

export const chosen = <Codec>(ways: Ways<Codec>): Codec =>
  preferred === 'native' && ways.native !== undefined ? ways.native : ways.portable
