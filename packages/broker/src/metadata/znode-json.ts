/** Reading the JSON of Kafka's nodes: each value is checked as it is taken, and what does not fit is an error that names the node. */

/** A node whose data is not what Kafka writes there. */
export class ZnodeError extends Error {
  override readonly name = 'ZnodeError'
  constructor(
    readonly path: string,
    readonly detail: string,
  ) {
    super(`${path} cannot be read: ${detail}`)
  }
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export const toBytes = (json: Json): Buffer => Buffer.from(JSON.stringify(json), 'utf8')

/** A JSON value and the node in which it stands. `optional…` give undefined for a missing or null value. */
export class JsonValue {
  constructor(
    readonly value: Json | undefined,
    readonly path: string,
    readonly place: string,
  ) {}

  static parse(data: Buffer | null, path: string): JsonValue {
    try {
      return new JsonValue(JSON.parse((data ?? Buffer.alloc(0)).toString('utf8')) as Json, path, 'the data')
    } catch {
      throw new ZnodeError(path, 'its data is not JSON')
    }
  }

  get isThere(): boolean {
    return this.value !== undefined && this.value !== null
  }

  at(key: string): JsonValue {
    const object = this.value
    if (object === null || typeof object !== 'object' || Array.isArray(object)) return this.#wrong('an object')
    return new JsonValue(Object.hasOwn(object, key) ? (object as Record<string, Json>)[key] : undefined, this.path, key)
  }

  int(): number {
    return Number.isSafeInteger(this.value) ? (this.value as number) : this.#wrong('an integer')
  }

  text(): string {
    return typeof this.value === 'string' ? this.value : this.#wrong('a string')
  }

  /** An integer as a string of digits, as Kafka writes times and producer ids. */
  digits(): number {
    const value = Number(this.text())
    return /^-?\d+$/.test(this.text()) && Number.isSafeInteger(value)
      ? value
      : this.#wrong('a number that fits 53 bits, as digits')
  }

  list(): JsonValue[] {
    if (!Array.isArray(this.value)) return this.#wrong('a list')
    return this.value.map((each: Json, index) => new JsonValue(each, this.path, `${this.place}[${index}]`))
  }

  ints(): number[] {
    return this.list().map((each) => each.int())
  }

  entries(): [string, JsonValue][] {
    const object = this.value
    if (object === null || typeof object !== 'object' || Array.isArray(object)) return this.#wrong('an object')
    return Object.entries(object as Record<string, Json>).map(([key, each]) => [key, new JsonValue(each, this.path, key)])
  }

  #wrong(wanted: string): never {
    throw new ZnodeError(
      this.path,
      `${this.place} is ${this.value === undefined ? 'missing' : 'not'}${this.value === undefined ? `, it should be ${wanted}` : ` ${wanted}`}`,
    )
  }
}
