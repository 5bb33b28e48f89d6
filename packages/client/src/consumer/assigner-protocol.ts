/**
 * The bytes that group members tell each other through the coordinator: subscription and assignment, in the layout of version 0,
 * which every consumer reads (later versions only append fields). Custom assigners written for kafkajs use these two serialisers.
 *
 *   subscription: version int16 | topics [string] | userData bytes
 *   assignment:   version int16 | [topic string, partitions [int32]] | userData bytes
 */

export type Assignment = { [topic: string]: number[] }

export interface MemberMetadata {
  version: number
  topics: string[]
  userData: Buffer
}

export interface MemberAssignment {
  version: number
  assignment: Assignment
  userData: Buffer
}

class Bytes {
  readonly #parts: Buffer[] = []
  int16(value: number): this {
    const part = Buffer.allocUnsafe(2)
    part.writeInt16BE(value)
    this.#parts.push(part)
    return this
  }
  int32(value: number): this {
    const part = Buffer.allocUnsafe(4)
    part.writeInt32BE(value)
    this.#parts.push(part)
    return this
  }
  string(text: string): this {
    const part = Buffer.from(text)
    this.int16(part.length)
    this.#parts.push(part)
    return this
  }
  bytes(value: Buffer | null | undefined): this {
    if (value === null || value === undefined) return this.int32(-1)
    this.int32(value.length)
    this.#parts.push(value)
    return this
  }
  done(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

/** Reads what another member wrote: a length that does not fit is a RangeError of Buffer, so nothing is allocated for it. */
class Cursor {
  #at = 0
  constructor(private readonly buffer: Buffer) {}
  get left(): number {
    return this.buffer.length - this.#at
  }
  int16(): number {
    const value = this.buffer.readInt16BE(this.#at)
    this.#at += 2
    return value
  }
  int32(): number {
    const value = this.buffer.readInt32BE(this.#at)
    this.#at += 4
    return value
  }
  string(): string {
    return this.#slice(this.int16()).toString()
  }
  bytes(): Buffer {
    return this.left >= 4 ? this.#slice(Math.max(0, this.int32())) : Buffer.alloc(0)
  }
  array<Item>(read: (cursor: Cursor) => Item): Item[] {
    const count = this.int32()
    if (count > this.left) throw new RangeError(`a member announced ${count} entries in ${this.left} bytes`)
    const items: Item[] = []
    for (let at = 0; at < count; at++) items.push(read(this))
    return items
  }
  #slice(length: number): Buffer {
    if (length < 0 || length > this.left) throw new RangeError(`a member announced ${length} bytes where ${this.left} are left`)
    this.#at += length
    return this.buffer.subarray(this.#at - length, this.#at)
  }
}

const NONE = Buffer.alloc(0)

export const AssignerProtocol = {
  MemberMetadata: {
    encode({ version, topics, userData = NONE }: Omit<MemberMetadata, 'userData'> & { userData?: Buffer }): Buffer {
      const bytes = new Bytes().int16(version).int32(topics.length)
      for (const topic of topics) bytes.string(topic)
      return bytes.bytes(userData).done()
    },
    /** Answers null for bytes that hold no subscription. */
    decode(buffer: Buffer): MemberMetadata | null {
      const cursor = new Cursor(buffer)
      if (cursor.left < 2) return null
      return { version: cursor.int16(), topics: cursor.array((each) => each.string()), userData: cursor.bytes() }
    },
  },
  MemberAssignment: {
    encode({ version, assignment, userData = NONE }: Omit<MemberAssignment, 'userData'> & { userData?: Buffer }): Buffer {
      const topics = Object.keys(assignment)
      const bytes = new Bytes().int16(version).int32(topics.length)
      for (const topic of topics) {
        const partitions = assignment[topic]!
        bytes.string(topic).int32(partitions.length)
        for (const partition of partitions) bytes.int32(partition)
      }
      return bytes.bytes(userData).done()
    },
    /** Answers null for the empty bytes of a member that got nothing. */
    decode(buffer: Buffer): MemberAssignment | null {
      const cursor = new Cursor(buffer)
      if (cursor.left < 2) return null
      const version = cursor.int16()
      const entries = cursor.array((each) => [each.string(), each.array((inner) => inner.int32())] as const)
      return { version, assignment: Object.fromEntries(entries), userData: cursor.bytes() }
    },
  },
}
