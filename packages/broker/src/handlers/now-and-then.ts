/** Log lines that clients cause: they ask several times a second, and one line in a while is enough. */
import type { BrokerServices } from '../services.js'

const AGAIN_AFTER_MS = 30_000
const saidAt = new WeakMap<BrokerServices, Map<string, number>>()

/** Runs `say` unless it ran for the same thing (`what`) a short while ago. */
export function nowAndThen(broker: BrokerServices, what: string, say: () => void): void {
  const now = broker.clock.monotonic()
  const said = saidAt.get(broker) ?? new Map<string, number>()
  saidAt.set(broker, said)
  const last = said.get(what)
  if (last !== undefined && now - last < AGAIN_AFTER_MS) return
  said.set(what, now)
  say()
}
