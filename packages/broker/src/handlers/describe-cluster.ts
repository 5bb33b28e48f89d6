/** DescribeCluster v0-1. v1 asks for brokers or controllers (KIP-919): a broker of ZooKeeper mode knows only brokers. */
import { errorCode } from '@mq/protocol'
import { handler } from './handler.js'
import { endpointsOf } from './metadata.js'
import { CLUSTER_OPERATIONS, OPERATIONS_NOT_ASKED } from './operations.js'

const BROKERS = 1
const CONTROLLERS = 2

export const describeCluster = handler('DescribeCluster', { versions: '0-1' }, (request, { broker, listenerName }) => {
  if (request.endpointType !== BROKERS) {
    const known = request.endpointType === CONTROLLERS
    return {
      errorCode: errorCode(known ? 'MISMATCHED_ENDPOINT_TYPE' : 'UNSUPPORTED_ENDPOINT_TYPE'),
      errorMessage: known
        ? 'The request was sent to an endpoint of the wrong type: this is a broker.'
        : `The endpoint type ${request.endpointType} is not supported.`,
      endpointType: BROKERS,
    }
  }
  const image = broker.controller.image()
  return {
    clusterId: broker.clusterId,
    controllerId: image.controllerId,
    endpointType: BROKERS,
    brokers: endpointsOf(image, listenerName).map(({ nodeId, host, port, rack }) => ({ brokerId: nodeId, host, port, rack })),
    clusterAuthorizedOperations: request.includeClusterAuthorizedOperations ? CLUSTER_OPERATIONS : OPERATIONS_NOT_ASKED,
  }
})
