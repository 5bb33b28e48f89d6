/** Kafka's ids: 16 bytes on the wire, 22 characters of base64url as text. */
import { ZERO_UUID } from '../wire/primitives.js'

export { ZERO_UUID }

/** Reserved for the metadata topic of KRaft. */
const METADATA_TOPIC_UUID = 'AAAAAAAAAAAAAAAAAAAAAQ'

export function uuidToString(bytes: Buffer, at = 0): string {
  return bytes.toString('base64url', at, at + 16)
}

/** The 16 bytes; undefined if the text is not an id. */
export function uuidFromString(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9_-]{22}(==)?$/.test(text)) return undefined
  return Buffer.from(text, 'base64url')
}

/** A random (version 4) id that is not reserved and does not begin with '-', which command lines would take for an option. */
export function newUuid(random: { bytes(count: number): Uint8Array }): string {
  for (;;) {
    const bytes = Buffer.from(random.bytes(16))
    bytes[6] = (bytes[6]! & 0x0f) | 0x40
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    const text = uuidToString(bytes)
    if (text !== ZERO_UUID && text !== METADATA_TOPIC_UUID && !text.startsWith('-')) return text
  }
}
