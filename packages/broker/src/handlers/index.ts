/** The APIs we serve, one line each. ApiVersions is answered from this list, so what we claim and what we do cannot drift apart. */
import { alterConfigs } from './alter-configs.js'
import { apiVersions } from './api-versions.js'
import { createPartitions } from './create-partitions.js'
import { createTopics } from './create-topics.js'
import { deleteTopics } from './delete-topics.js'
import { describeCluster } from './describe-cluster.js'
import { describeConfigs } from './describe-configs.js'
import type { Handler } from './handler.js'
import { incrementalAlterConfigs } from './incremental-alter-configs.js'
import { metadata } from './metadata.js'

export const HANDLERS: readonly Handler[] = [
  metadata,
  apiVersions(() => HANDLERS),
  createTopics,
  deleteTopics,
  describeConfigs,
  alterConfigs,
  createPartitions,
  incrementalAlterConfigs,
  describeCluster,
]
