// What record number i says: a key that is its number, and 1 KiB that follow from it. Writer.java says the same.

export const VALUE_BYTES = 1024

export const keyFor = (index) => String(index)

export function valueFor(index) {
  const bytes = Buffer.allocUnsafe(VALUE_BYTES)
  let word = (Math.imul(index, 0x9e3779b1) + 1) | 0
  for (let at = 0; at < VALUE_BYTES; at += 4) {
    bytes.writeInt32BE(word, at)
    word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0
  }
  return bytes
}
