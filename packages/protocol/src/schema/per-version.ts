// Something that is made once for each message and version, and kept as long as the message is.

import type { Message } from './message.js'

export class PerVersion<Value> {
  readonly #made = new WeakMap<Message, Map<number, Value>>()
  readonly #make: (schema: Message, version: number) => Value

  constructor(make: (schema: Message, version: number) => Value) {
    this.#make = make
  }

  get(schema: Message, version: number): Value {
    return this.#made.get(schema)?.get(version) ?? this.#create(schema, version)
  }

  #create(schema: Message, version: number): Value {
    const value = this.#make(schema, version)
    const versions = this.#made.get(schema) ?? new Map<number, Value>()
    this.#made.set(schema, versions.set(version, value))
    return value
  }
}
