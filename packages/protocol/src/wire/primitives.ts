// The primitive types of the protocol: their default, their smallest and fixed sizes, and the one decision about int64.
//
// An int64 is read in one of two ways. Exact: a number when it is safe, a bigint beyond ±(2^53 − 1); for vectors, dumps and
// whoever asks. Safe: always a number, the default of broker and client (a bigint read costs 2.7 times as much). Beyond the
// safe range the safe reading clamps in fields of a request that hold an offset or a timestamp (the handler then answers as
// Kafka answers to an impossible offset) and fails everywhere else. What was clamped is never written again.

export type Int64Reading = 'safe' | 'exact'

export const MAX_SAFE = Number.MAX_SAFE_INTEGER
export const INT64_MAX = 2n ** 63n - 1n
export const INT64_MIN = -(2n ** 63n)

/** Java's limit for a string on the wire: its length is an int16, in the compact form too. */
export const MAX_STRING_BYTES = 0x7fff

export const EMPTY_BYTES: Buffer = Buffer.alloc(0)
/** The uuid that stands for "none": sixteen zero bytes in base64url. */
export const ZERO_UUID = 'AAAAAAAAAAAAAAAAAAAAAA'

/** Bytes a primitive takes; `null` where it depends on the value. */
export const FIXED_SIZE = {
  bool: 1,
  int8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  float64: 8,
  uuid: 16,
  string: null,
  bytes: null,
  records: null,
} as const

export type PrimitiveKind = keyof typeof FIXED_SIZE

export const DEFAULT_VALUE: Readonly<Record<PrimitiveKind, unknown>> = {
  bool: false,
  int8: 0,
  int16: 0,
  uint16: 0,
  int32: 0,
  uint32: 0,
  int64: 0,
  float64: 0,
  uuid: ZERO_UUID,
  string: '',
  bytes: EMPTY_BYTES,
  records: EMPTY_BYTES,
}

/** Smallest and largest value of the whole numbers that fit a double. */
export const INTEGER_RANGE = {
  int8: [-0x80, 0x7f],
  int16: [-0x8000, 0x7fff],
  uint16: [0, 0xffff],
  int32: [-0x80000000, 0x7fffffff],
  uint32: [0, 0xffffffff],
} as const
