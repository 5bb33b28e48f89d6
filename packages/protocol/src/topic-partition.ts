/** The names of things that every package speaks of. */

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

export type BrokerId = number
export type LeaderEpoch = number

/** `topic-partition`, as Kafka writes it in logs and folder names; unique, since the last dash ends the topic. */
export const formatTopicPartition = ({ topic, partition }: TopicPartition): string => `${topic}-${partition}`
