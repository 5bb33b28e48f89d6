// Node's Buffer has fast methods per encoding that its published types leave out. They are public on the prototype, stable, and
// used by most binary codecs; here they get types, without touching the types of those who use the package.

interface PerEncoding {
  utf8Slice(start: number, end: number): string
  base64urlSlice(start: number, end: number): string
  utf8Write(text: string, at: number): number
}

export function utf8At(bytes: Buffer, start: number, end: number): string {
  return (bytes as unknown as PerEncoding).utf8Slice(start, end)
}

export function base64urlAt(bytes: Buffer, start: number, end: number): string {
  return (bytes as unknown as PerEncoding).base64urlSlice(start, end)
}

/** The room must be there. Returns how many bytes were written. */
export function putUtf8(bytes: Buffer, at: number, text: string): number {
  return (bytes as unknown as PerEncoding).utf8Write(text, at)
}

/** The class of what `subarray` answers. It takes the memory that a view is of, which `subarray` asks the buffer for again each time. */
const View = (Buffer as unknown as { [Symbol.species]: new (memory: ArrayBufferLike, at: number, length: number) => Buffer })[
  Symbol.species
]

/** A view of `length` bytes of `memory` from `at`: for loops that make many of one buffer, in less than half of the time of `subarray`. */
export function viewOf(memory: ArrayBufferLike, at: number, length: number): Buffer {
  return new View(memory, at, length)
}
