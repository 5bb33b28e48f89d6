/**
 * Pure: what becomes of each partition when the brokers that live are known: who leads, in which epoch, or why nobody. For one broker
 * that starts; what it found on its disks comes in as facts.
 */
import { leaderEpochAtStart } from '@mq/replica'
import { NO_LEADER, type PartitionImage } from '../metadata/image.js'
import { wasLed } from '../metadata/load.js'

/** What this broker's disks say of one partition. */
export interface PartitionFacts {
  /** Latest leader epoch in the checkpoint or in a batch header, -1 without one. */
  readonly epochInLog: number
  /** Whether its directory was closed in order. */
  readonly stoppedCleanly: boolean
  /** Why the replica here cannot serve (folder gone, another topic's folder), or null. */
  readonly problem: string | null
}

/** A partition that has no folder here and needs none yet. */
export const NO_FACTS: PartitionFacts = { epochInLog: -1, stoppedCleanly: true, problem: null }

export interface StartRules {
  readonly brokerId: number
  readonly live: ReadonlyMap<number, unknown>
  readonly controllerEpoch: number
}

/** The partition from now on; the same object when its stored state stays as it is. `partitionEpoch` is still that of the store. */
export function decideStart(rules: StartRules, partition: PartitionImage, facts: PartitionFacts): PartitionImage {
  const { brokerId, live } = rules
  const isBroken = facts.problem !== null && partition.replicas.includes(brokerId)
  const offlineReplicas = isBroken ? [brokerId] : []
  const canLead = (id: number) => live.has(id) && !(isBroken && id === brokerId)
  const candidates = wasLed(partition) ? partition.isr : partition.replicas
  // The first *assigned* replica that is in sync and lives (features S10), not the first of the ISR.
  const leader = partition.replicas.find((id) => candidates.includes(id) && canLead(id)) ?? NO_LEADER
  if (leader === NO_LEADER) return withoutLeader(rules, partition, offlineReplicas)
  const isr = candidates.filter(canLead)
  const isSame = leader === partition.leader && isr.length === partition.isr.length
  const known = { storedEpoch: partition.leaderEpoch, epochInLog: facts.epochInLog }
  // Only our own log can have been cut, and a change of leader or ISR is a new epoch anyway.
  const leaderEpoch = leaderEpochAtStart({
    ...known,
    stoppedCleanly: isSame ? facts.stoppedCleanly || leader !== brokerId : !wasLed(partition) && facts.stoppedCleanly,
  })
  if (isSame && leaderEpoch === partition.leaderEpoch) {
    return partition.offlineReplicas.length === offlineReplicas.length ? partition : { ...partition, offlineReplicas }
  }
  return { ...partition, leader, isr, leaderEpoch, offlineReplicas, controllerEpoch: rules.controllerEpoch }
}

/** Nobody may lead: the ISR stays as the last that was committed by, so that one of them can lead again. */
function withoutLeader(rules: StartRules, partition: PartitionImage, offlineReplicas: number[]): PartitionImage {
  if (!wasLed(partition)) {
    if (offlineReplicas.length === 0) return { ...partition, leader: NO_LEADER } // waits for its brokers, as a new partition
    // Written down, so that no later start takes it for a partition that never was and makes an empty one.
    return {
      ...partition,
      leader: NO_LEADER,
      isr: offlineReplicas,
      leaderEpoch: 0,
      offlineReplicas,
      controllerEpoch: rules.controllerEpoch,
    }
  }
  if (partition.leader === NO_LEADER) return { ...partition, offlineReplicas }
  const leaderEpoch = partition.leaderEpoch + 1
  return { ...partition, leader: NO_LEADER, leaderEpoch, offlineReplicas, controllerEpoch: rules.controllerEpoch }
}

/** Whether the store's state must be written. */
export function stateDiffers(before: PartitionImage, after: PartitionImage): boolean {
  return (
    before.leader !== after.leader ||
    before.leaderEpoch !== after.leaderEpoch ||
    before.isr.length !== after.isr.length ||
    before.isr.some((id, at) => after.isr[at] !== id)
  )
}
