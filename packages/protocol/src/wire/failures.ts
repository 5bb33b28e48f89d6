// What can go wrong between values and bytes, as typed errors that say where: which API and version, which field, which byte.

/** The bytes are not what the schema says. `position` counts from the start of the bytes that were read. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
  constructor(
    readonly reason: string,
    readonly position: number,
    /** Dotted path with array indexes, as `topics[2].partitions[0].fetchOffset`; empty at the top level. */
    readonly field: string = '',
    readonly api?: string,
    readonly version?: number,
  ) {
    super(`${place(api, version, field)}${reason} (at byte ${position})`)
  }
}

/** The value cannot be written: wrong type, out of range, or a field that this version does not have. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError'
  constructor(
    readonly reason: string,
    readonly field: string = '',
    readonly api?: string,
    readonly version?: number,
  ) {
    super(`${place(api, version, field)}${reason}`)
  }
}

/** Something that cannot happen did: a defect of ours, never of the input. Its partition, shard or broker stops. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

function place(api: string | undefined, version: number | undefined, field: string): string {
  const message = api === undefined ? '' : `${api} v${version} `
  return message + field === '' ? '' : `${message}${field}: `
}
