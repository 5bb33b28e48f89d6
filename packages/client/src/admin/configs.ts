/** Configs of topics and brokers: describe and replace. */

import { ConfigResourceTypes } from '../enums.js'
import { protocolError } from '../errors.js'
import { checkConfigEntries, checkConfigNames, checkResources } from './arguments.js'
import type { Routes } from './routes.js'

/** What an incremental change does with a config; append and subtract are for lists. */
const CONFIG_OPERATIONS = { set: 0, delete: 1, append: 2, subtract: 3 } as const

/** What has no text is null, as in kafkajs, whose declarations say `string` all the same: programs typed by them have to compile. */
const declaredText = (text: string | null): string => text as string

/** Rejects with the first error; where it is about a topic, it says which. */
function checkAnswers(
  answers: readonly { errorCode: number; errorMessage: string | null; resourceType: number; resourceName: string }[],
): void {
  for (const { errorCode, errorMessage, resourceType, resourceName } of answers) {
    if (errorCode === 0) continue
    const about = resourceType === ConfigResourceTypes.TOPIC ? { topic: resourceName } : {}
    throw Object.assign(protocolError(errorCode, errorMessage), about)
  }
}

export class ConfigAdmin {
  constructor(private readonly routes: Routes) {}

  async describeConfigs({
    resources,
    includeSynonyms = false,
  }: {
    resources: { type: ConfigResourceTypes; name: string; configNames?: string[] }[]
    includeSynonyms?: boolean
  }) {
    checkResources(resources)
    checkConfigNames(resources)
    const answers = await this.routes.byResource(resources, async (connection, group) => {
      const response = await connection.send('DescribeConfigs', {
        resources: group.map(({ type, name, configNames }) => ({
          resourceType: type,
          resourceName: name,
          configurationKeys: configNames ?? null,
        })),
        includeSynonyms,
      })
      checkAnswers(response.results)
      return response
    })
    return {
      throttleTime: answers[0]?.throttleTimeMs ?? 0,
      resources: answers.flatMap(({ results }) =>
        results.map((result) => ({
          errorCode: result.errorCode,
          errorMessage: declaredText(result.errorMessage),
          resourceType: result.resourceType as ConfigResourceTypes,
          resourceName: result.resourceName,
          configEntries: result.configs.map((entry) => ({
            configName: entry.name,
            configValue: declaredText(entry.value),
            readOnly: entry.readOnly,
            isDefault: entry.isDefault || entry.configSource === 5,
            configSource: entry.configSource,
            isSensitive: entry.isSensitive,
            configSynonyms: entry.synonyms.map(({ name, value, source }) => ({
              configName: name,
              configValue: declaredText(value),
              configSource: source,
            })),
          })),
        })),
      ),
    }
  }

  /** Replaces the whole configuration of each resource (AlterConfigs), as kafkajs does. */
  async alterConfigs({
    resources,
    validateOnly = false,
  }: {
    resources: { type: ConfigResourceTypes; name: string; configEntries: { name: string; value: string }[] }[]
    validateOnly?: boolean
  }) {
    checkResources(resources)
    checkConfigEntries(resources)
    const answers = await this.routes.byResource(resources, async (connection, group) => {
      const response = await connection.send('AlterConfigs', {
        resources: group.map(({ type, name, configEntries }) => ({
          resourceType: type,
          resourceName: name,
          configs: configEntries,
        })),
        validateOnly,
      })
      checkAnswers(response.responses)
      return response
    })
    return { throttleTime: answers[0]?.throttleTimeMs ?? 0, resources: answers.flatMap(({ responses }) => responses) }
  }

  /** Changes single configs and leaves the others alone (IncrementalAlterConfigs, KIP-339). Beyond kafkajs. */
  async incrementalAlterConfigs({
    resources,
    validateOnly = false,
  }: {
    resources: {
      type: ConfigResourceTypes
      name: string
      configEntries: { name: string; value: string | null; operation: keyof typeof CONFIG_OPERATIONS }[]
    }[]
    validateOnly?: boolean
  }): Promise<void> {
    checkResources(resources)
    await this.routes.byResource(resources, async (connection, group) => {
      const response = await connection.send('IncrementalAlterConfigs', {
        resources: group.map(({ type, name, configEntries }) => ({
          resourceType: type,
          resourceName: name,
          configs: configEntries.map((entry) => ({
            name: entry.name,
            value: entry.value,
            configOperation: CONFIG_OPERATIONS[entry.operation],
          })),
        })),
        validateOnly,
      })
      checkAnswers(response.responses)
    })
  }
}
