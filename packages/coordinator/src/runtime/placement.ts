/** Which shard keeps what: a group or a transactional id lives in one partition of its internal topic, by Java's string hash. */
import { partitionForGroup } from '@mq/protocol'

/** @param partitionCount partitions of the internal topic, which never changes once it is created */
export const shardOf = (id: string, partitionCount: number): number => partitionForGroup(id, partitionCount)
