/** The APIs we serve, one line each. ApiVersions is answered from this list, so what we claim and what we do cannot drift apart. */
import { alterConfigs } from './alter-configs.js'
import { apiVersions } from './api-versions.js'
import { createPartitions } from './create-partitions.js'
import { createTopics } from './create-topics.js'
import { deleteRecords } from './delete-records.js'
import { deleteTopics } from './delete-topics.js'
import { describeCluster } from './describe-cluster.js'
import { describeConfigs } from './describe-configs.js'
import { describeProducers } from './describe-producers.js'
import { fetch } from './fetch.js'
import type { Handler } from './handler.js'
import { incrementalAlterConfigs } from './incremental-alter-configs.js'
import { initProducerId } from './init-producer-id.js'
import { listOffsets } from './list-offsets.js'
import { metadata } from './metadata.js'
import { offsetForLeaderEpoch } from './offset-for-leader-epoch.js'
import { produce } from './produce.js'

export const HANDLERS: readonly Handler[] = [
  produce,
  fetch,
  listOffsets,
  metadata,
  apiVersions(() => HANDLERS),
  createTopics,
  deleteTopics,
  deleteRecords,
  initProducerId,
  offsetForLeaderEpoch,
  describeConfigs,
  alterConfigs,
  createPartitions,
  incrementalAlterConfigs,
  describeCluster,
  describeProducers,
]
