/** How Kafka names a client's address in groups: a slash, and the address as Java writes it. */
import { isIPv6 } from 'node:net'

/** `/127.0.0.1`, `/0:0:0:0:0:0:0:1` */
export function clientHost(address: string): string {
  const [plain = '', zone] = address.split('%')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)
  if (mapped) return `/${mapped[1]}`
  if (!isIPv6(plain)) return `/${address}`
  const [head = '', tail] = plain.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0')
  const groups = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16).toString(16))
  return `/${groups.join(':')}${zone === undefined ? '' : `%${zone}`}`
}
