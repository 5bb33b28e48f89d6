// Small tools of the code generator: lines of JavaScript, fresh names, literals of defaults.

import type { Int64Reading } from '../wire/primitives.js'
import { defaultValue, type FieldPlan } from './plan.js'

export class Source {
  readonly #lines: string[] = []
  #names = 0
  /** Objects that the code refers to as K[0], K[1] … */
  readonly constants: unknown[] = []

  line(text: string): void {
    this.#lines.push(text)
  }

  /** A variable name not used before. */
  name(hint: string): string {
    return `${hint}${this.#names++}`
  }

  constant(value: unknown): string {
    let index = this.constants.indexOf(value)
    if (index < 0) index = this.constants.push(value) - 1
    return `K[${index}]`
  }

  toString(): string {
    return this.#lines.join('\n')
  }
}

/** JavaScript for a fresh value of a field's default. `EMPTY` is the empty buffer. */
export function defaultLiteral(field: FieldPlan, int64: Int64Reading): string {
  if (field.struct !== undefined && field.default === undefined) {
    const inner = field.struct.fields.map((child) => `${child.name}: ${defaultLiteral(child, int64)}`)
    return `{ ${inner.join(', ')} }`
  }
  return literal(defaultValue(field), int64)
}

export function literal(value: unknown, int64: Int64Reading): string {
  if (typeof value === 'bigint') {
    if (int64 === 'exact') return `${value}n`
    return String(value > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER)
  }
  if (Buffer.isBuffer(value)) return 'EMPTY'
  return JSON.stringify(value)
}
