/** What tools/config-docs.mjs makes docs/config.md from. */
export { defaultText } from '@mq/protocol'
export { CONFIG_TABLES, topicConfigRows } from './tables.js'
