/** ApiVersions v0-4. v3 flexible, with the client's name and version (KIP-511); v4 lets features begin at 0. */
import { APIS, type ApiVersionsRequest, errorCode } from '@mq/protocol'
import { type Handler, handler } from './handler.js'

/** KIP-511: letters and digits, and in between also `-` and `.`. */
const SOFTWARE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9\-.]*[A-Za-z0-9])?$/

/** Answers from the list of handlers that it is given, itself included. */
export function apiVersions(handlers: () => readonly Handler[]): Handler {
  let keys: { apiKey: number; minVersion: number; maxVersion: number }[] | undefined
  return handler('ApiVersions', { versions: '0-4' }, (request: ApiVersionsRequest, { apiVersion }) => {
    if (
      apiVersion >= 3 &&
      !(SOFTWARE_NAME.test(request.clientSoftwareName) && SOFTWARE_NAME.test(request.clientSoftwareVersion))
    ) {
      return { errorCode: errorCode('INVALID_REQUEST') }
    }
    keys ??= handlers()
      .map(({ api, minVersion, maxVersion }) => ({ apiKey: APIS[api as keyof typeof APIS].key, minVersion, maxVersion }))
      .sort((a, b) => a.apiKey - b.apiKey)
    // A ZooKeeper-mode broker has no features, and says epoch 0 of them.
    return { apiKeys: keys, finalizedFeaturesEpoch: 0 }
  })
}
