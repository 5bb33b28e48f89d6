/**
 * Which brokers hold the replicas of new partitions: first replicas go round the brokers from a random start, the others follow with a
 * shift that grows with every round, racks alternate (KIP-36). The same spread as Kafka's.
 */
import type { ControllerError } from './api.js'

export interface PlaceableBroker {
  readonly id: number
  readonly rack: string | null
}

export interface PlacementRequest {
  /** Live brokers. */
  readonly brokers: readonly PlaceableBroker[]
  readonly partitionCount: number
  readonly replicationFactor: number
  /** Index of the first partition to place (those before it exist). */
  readonly firstPartition: number
  /** Where in the list of brokers the first replicas begin, and the first shift. Both in [0, brokers). */
  readonly start: number
  readonly shift: number
}

export type Placement =
  | { readonly kind: 'placed'; readonly replicas: readonly (readonly number[])[] }
  | { readonly kind: 'refused'; readonly error: ControllerError; readonly message: string }

const refused = (error: ControllerError, message: string): Placement => ({ kind: 'refused', error, message })

export function placeReplicas(request: PlacementRequest): Placement {
  const { brokers, partitionCount, replicationFactor, firstPartition } = request
  if (partitionCount <= 0) return refused('INVALID_PARTITIONS', 'Number of partitions must be larger than 0.')
  if (replicationFactor <= 0) return refused('INVALID_REPLICATION_FACTOR', 'Replication factor must be larger than 0.')
  if (replicationFactor > brokers.length) {
    const message = `Replication factor: ${replicationFactor} larger than available brokers: ${brokers.length}.`
    return refused('INVALID_REPLICATION_FACTOR', message)
  }
  const withRack = brokers.filter(({ rack }) => rack !== null).length
  if (withRack > 0 && withRack < brokers.length) {
    return refused('UNKNOWN_SERVER_ERROR', 'Not all brokers have rack information for replica rack aware assignment.')
  }
  const inOrder = withRack > 0 ? alternateRacks(brokers) : [...brokers].sort((a, b) => a.id - b.id)
  let shift = request.shift
  const replicas: number[][] = []
  for (let index = firstPartition; index < firstPartition + partitionCount; index++) {
    if (index > 0 && index % inOrder.length === 0) shift++
    replicas.push(replicasFrom(inOrder, (index + request.start) % inOrder.length, shift, replicationFactor))
  }
  return { kind: 'placed', replicas }
}

/** The first replica, then the next brokers by the shift; racks without a replica first. Without racks every broker is a rack of its own. */
function replicasFrom(brokers: readonly PlaceableBroker[], first: number, shift: number, count: number): number[] {
  const rackOf = (broker: PlaceableBroker) => broker.rack ?? `#${broker.id}`
  const rackCount = new Set(brokers.map(rackOf)).size
  const step = brokers[0]?.rack === null ? shift : shift * rackCount
  const leader = brokers[first]!
  const chosen = [leader.id]
  const racks = new Set([rackOf(leader)])
  for (let next = 0; chosen.length < count; next++) {
    const broker = brokers[(first + 1 + ((step + next) % (brokers.length - 1))) % brokers.length]!
    if (chosen.includes(broker.id) || (racks.has(rackOf(broker)) && racks.size < rackCount)) continue
    chosen.push(broker.id)
    racks.add(rackOf(broker))
  }
  return chosen
}

/** One broker of each rack in turn: racks by name, brokers in a rack by id. */
function alternateRacks(brokers: readonly PlaceableBroker[]): PlaceableBroker[] {
  const byRack = new Map<string, PlaceableBroker[]>()
  for (const broker of [...brokers].sort((a, b) => a.id - b.id)) {
    const rack = byRack.get(broker.rack ?? '')
    if (rack === undefined) byRack.set(broker.rack ?? '', [broker])
    else rack.push(broker)
  }
  const racks = [...byRack.keys()].sort().map((name) => byRack.get(name)!)
  const longest = Math.max(...racks.map((rack) => rack.length))
  return Array.from({ length: longest }, (_, at) => racks.flatMap((rack) => rack[at] ?? [])).flat()
}
