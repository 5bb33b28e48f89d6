import assert from 'node:assert/strict'
import { logLevel } from '../enums.js'
import { Kafka } from '../kafka.js'
import { nodeEnvironment } from '../node-environment.js'
import { FakeGroup, until } from '../testing/fake-group.js'
import type { Consumer } from './consumer.js'

const COORDINATOR_NOT_AVAILABLE = 15

describe('a consumer that is disconnected', () => {
  let group: FakeGroup
  let consumer: Consumer

  /** Its tries are an hour apart: waiting for the next one would be noticed. */
  beforeEach(async () => {
    group = await new FakeGroup().listen()
    const kafka = new Kafka(
      {
        brokers: [group.broker.address],
        logLevel: logLevel.NOTHING,
        retry: { initialRetryTime: 3_600_000, maxRetryTime: 3_600_000 },
      },
      { ...nodeEnvironment, variables: {} },
    )
    consumer = kafka.consumer({ groupId: 'g', maxWaitTimeInMs: 20, heartbeatInterval: 10 })
    await consumer.connect()
    await consumer.subscribe({ topics: ['t'], fromBeginning: true })
  })
  afterEach(() => group.close())

  it('does not wait for the next try of a join', async () => {
    group.broker.answers.JoinGroup = () => ({ errorCode: COORDINATOR_NOT_AVAILABLE })
    const running = consumer.run({ eachMessage: async () => {} })
    await until(() => group.broker.count('JoinGroup') === 1, 'the join is refused')
    await consumer.disconnect()
    await running
    assert.equal(group.broker.count('JoinGroup'), 1)
  })

  it('does not wait for the next try of a heartbeat', async () => {
    group.broker.answers.Heartbeat = () => ({ errorCode: COORDINATOR_NOT_AVAILABLE })
    await consumer.run({ eachMessage: async () => {} })
    await until(() => group.broker.count('Heartbeat') === 1, 'the heartbeat is refused')
    await consumer.disconnect()
    assert.equal(group.broker.count('Heartbeat'), 1)
    assert.equal(group.broker.count('LeaveGroup'), 1)
  })

  it('does not wait for a coordinator that cannot be found to leave its group', async () => {
    await consumer.run({ eachMessage: async () => {} })
    group.broker.answers.FindCoordinator = () => ({ errorCode: COORDINATOR_NOT_AVAILABLE })
    group.broker.answers.Heartbeat = () => ({ errorCode: COORDINATOR_NOT_AVAILABLE })
    await until(() => group.broker.count('Heartbeat') === 1, 'the coordinator is forgotten')
    const asked = group.broker.count('FindCoordinator')
    await consumer.disconnect()
    assert.equal(group.broker.count('FindCoordinator'), asked + 1)
  })
})
