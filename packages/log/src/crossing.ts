/**
 * What crosses from one thread to another: plain data, with its bytes handed over instead of copied where they own their memory, and
 * errors that keep their class.
 */
import { RecordsError } from '@mq/protocol'
import { OffloadError } from './offload.js'
import { DiskError } from './ports.js'

/** Errors that keep their class. Whatever else is thrown arrives as an Error with its name, message and stack. */
const CLASSES: readonly (new (...given: never[]) => Error)[] = [DiskError, RecordsError, OffloadError]

export interface PlainError {
  readonly className: string
  readonly message: string
  readonly stack: string | undefined
  readonly fields: { readonly [name: string]: unknown }
}

export function plainError(thrown: unknown): PlainError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const className = CLASSES.find((one) => error instanceof one)?.name ?? 'Error'
  const fields = Object.entries(error).filter(([name, value]) => name !== 'cause' && typeof value !== 'function')
  return { className, message: error.message, stack: error.stack, fields: { name: error.name, ...Object.fromEntries(fields) } }
}

export function revivedError({ className, message, stack, fields }: PlainError): Error {
  const error = new Error(message)
  const known = CLASSES.find((one) => one.name === className)
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype)
  if (stack !== undefined) error.stack = stack
  return Object.assign(error, fields)
}

export interface Parcel {
  readonly data: unknown
  /** Memory that changes hands with it. */
  readonly transfer: ArrayBuffer[]
}

/**
 * The data with every Uint8Array and Float64Array in memory of its own: a view would drag along all that lies around it.
 * @param bytes `copied` leaves the sender's alone; `given` hands over those that fill their memory, so that the sender loses them
 */
export function parcel(data: unknown, bytes: 'copied' | 'given'): Parcel {
  const transfer = new Set<ArrayBuffer>()
  const packed = (value: unknown): unknown => {
    if (value instanceof Uint8Array || value instanceof Float64Array) {
      const own = bytes === 'given' && fillsItsMemory(value) ? value : copyOf(value)
      transfer.add(own.buffer as ArrayBuffer)
      return own
    }
    if (Array.isArray(value)) return typeof value[0] === 'number' ? value : value.map(packed)
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, packed(field)]))
  }
  return { data: packed(data), transfer: [...transfer] }
}

const copyOf = (value: Uint8Array | Float64Array) =>
  value instanceof Uint8Array ? new Uint8Array(value) : new Float64Array(value)

function fillsItsMemory({ buffer, byteLength }: Uint8Array | Float64Array): boolean {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
}
