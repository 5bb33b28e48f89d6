/** Topics that the broker keeps for itself: clients may read them, not write them. */
import { INTERNAL_TOPICS } from '../metadata/image.js'

export const isInternalTopic = (topic: string): boolean => INTERNAL_TOPICS.has(topic)

/** The client id by which Kafka's own admin tools may write to internal topics. */
export const ADMIN_CLIENT_ID = '__admin_client'
