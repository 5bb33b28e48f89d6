// Vectors of record batches of every magic: read with every field, built again (byte for byte where not compressed), converted down, and damaged ones judged.
import assert from 'node:assert/strict'
import * as protocol from '@mq/protocol'

export function* records(vectors) {
  for (const path of vectors.files('records')) {
    const [, group, file] = path.split('/')
    if (file === undefined || !file.endsWith('.json')) continue
    const given = vectors.json(path)
    const bytes = () => vectors.bytes(path.replace(/\.json$/, '.bin'))
    const checks = { v2: readAndBuild, old: readAndBuild, downconverted: convertDown, corrupt: judge }
    assert.ok(checks[group] !== undefined, `an unknown group of records: ${group}`)
    yield { name: path, run: () => checks[group](bytes, given, file) }
  }
}

function readAndBuild(bytes, given) {
  const batches = [...protocol.iterateAnyBatches(bytes())]
  assert.equal(batches.length, given.batches.length, 'batches')
  for (const [at, batch] of batches.entries()) {
    checkBatch(batch, given.batches[at])
    if (given.batches[at].records.length === 0) continue
    const again = batch.magic === 2 ? build(batch) : buildMessages(batch)
    if (batch.codec === 0) assert.equal(again.toString('hex'), batch.slice().toString('hex'), 'built again')
    else checkRecords([...protocol.iterateAnyBatches(again)][0].records(), given.batches[at].records)
  }
}

function checkBatch(batch, expected) {
  assert.equal(batch.at, expected.position, 'position')
  for (const name of ['sizeInBytes', 'magic', 'crc', 'attributes', 'timestampType', 'lastOffset', 'maxTimestamp']) {
    assert.equal(batch[name], expected[name], name)
  }
  assert.equal(protocol.codecName(batch.codec), expected.compression, 'compression')
  assert.equal(batch.crcIsValid(), true, 'CRC')
  if (batch.magic === 2) {
    const same = ['baseOffset', 'lastOffsetDelta', 'nextOffset', 'partitionLeaderEpoch', 'isTransactional', 'deleteHorizonMs']
    for (const name of [...same, 'producerId', 'producerEpoch', 'baseSequence', 'lastSequence'])
      assert.equal(batch[name], expected[name], name)
    assert.equal(batch.baseTimestamp, expected.baseTimestampField, 'base timestamp')
    assert.equal(batch.isControl, expected.isControlBatch, 'control')
    assert.equal(batch.recordCount, expected.recordsCount, 'count')
  } else assert.equal(batch.baseOffset(), expected.baseOffset, 'base offset')
  checkRecords(batch.records(), expected.records)
}

function checkRecords(actual, expected) {
  const found = [...actual]
  assert.equal(found.length, expected.length, 'records')
  for (const [at, record] of found.entries()) {
    const { headers = [], controlType, ...plain } = expected[at]
    const { offset, timestamp, sequence, sizeInBytes } = record
    assert.deepEqual({ offset, timestamp, sequence, sizeInBytes, key: base64(record.key), value: base64(record.value) }, plain)
    assert.deepEqual(
      record.headers.map(({ key, value }) => ({ key, value: base64(value) })),
      headers,
    )
    if (controlType !== undefined) assert.equal(protocol.readControlRecord(record).type, controlType)
  }
}

function build(batch) {
  const builder = new protocol.BatchBuilder({
    codec: protocol.codecName(batch.codec),
    timestampType: batch.timestampType,
    logAppendTime: batch.maxTimestamp,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    transactional: batch.isTransactional,
    control: batch.isControl,
    baseOffset: batch.baseOffset,
    leaderEpoch: batch.partitionLeaderEpoch,
    ...(batch.deleteHorizonMs === null ? {} : { deleteHorizonMs: batch.deleteHorizonMs }),
  })
  const cursor = batch.cursor()
  for (const record of batch.records()) {
    cursor.next()
    // With LogAppendTime the records' own times are still in the bytes.
    const timestamp =
      batch.timestampType === 'LogAppendTime' ? batch.baseTimestamp + cursor.timestampDelta : record.exactTimestamp
    const { key, value, headers, offset } = record
    assert.equal(builder.tryAppend({ timestamp, key, value, headers, offset }), true)
  }
  return builder.build()
}

function buildMessages(batch) {
  const builder = new protocol.MessageSetBuilder({
    magic: batch.magic,
    codec: protocol.codecName(batch.codec),
    timestampType: batch.timestampType === 'LogAppendTime' ? 'LogAppendTime' : 'CreateTime',
    logAppendTime: batch.maxTimestamp,
  })
  for (const { offset, exactTimestamp, key, value } of batch.records())
    builder.append({ offset, timestamp: exactTimestamp, key, value })
  return builder.build()
}

function convertDown(bytes, given, file) {
  const source = Buffer.from(given.sourceBase64, 'base64')
  const toMagic = file.endsWith('v0.json') ? 0 : 1
  if (given.downConvertErrorCode !== undefined) {
    assert.throws(
      () => protocol.downConvert(source, toMagic, 0),
      (error) => error instanceof protocol.RecordsError && protocol.errorCode(error.error) === given.downConvertErrorCode,
    )
    return
  }
  const converted = protocol.downConvert(source, toMagic, 0)
  if (given.batches[0].compressionId === 0) assert.equal(converted.toString('hex'), bytes().toString('hex'), 'converted')
  const batches = [...protocol.iterateAnyBatches(converted)]
  assert.equal(batches.length, given.batches.length, 'batches')
  for (const [at, { magic, lastOffset, maxTimestamp, timestampType, codec }] of batches.entries()) {
    const want = given.batches[at]
    assert.deepEqual(
      { magic, lastOffset, maxTimestamp, timestampType, compressionId: codec },
      pick(want, ['magic', 'lastOffset', 'maxTimestamp', 'timestampType', 'compressionId']),
    )
    checkRecords(batches[at].records(), want.records)
  }
}

function judge(bytes, { result }) {
  const batches = []
  const stopped = failureOf(() => {
    for (const batch of protocol.iterateAnyBatches(bytes())) batches.push(batch)
  })
  if (batches.length < result.batches.length) {
    // A batch shorter than its header: Kafka walks over it and then refuses it, here the walk stops. The same error.
    assert.equal(result.batches[batches.length].ensureValidErrorCode, 2)
    assert.equal(stopped?.error, 'CORRUPT_MESSAGE')
  } else
    assert.equal(
      stopped && protocol.errorCode(stopped.error),
      codeOf(result.batchIterationErrorCode, undefined),
      'walking over the batches',
    )
  for (const [at, batch] of batches.entries()) {
    const expected = result.batches[at]
    assert.equal(batch.crcIsValid(), expected.ensureValid === 'ok', 'CRC')
    let count = 0
    const failed = failureOf(() => {
      for (const record of batch.records()) count += record.headers === undefined ? 0 : 1
    })
    assert.equal(failed && protocol.errorCode(failed.error), codeOf(expected.iterateErrorCode, batch), 'reading the records')
    // Kafka has two readers of compressed batches: what one of them sees before the damage is right.
    const counts = batch.codec === 0 ? [expected.iterateRecords] : [expected.iterateRecords, expected.streamingRecords]
    assert.ok(counts.includes(count), `${count} records before the damage, not ${counts}`)
  }
}

/** Kafka's codes, but where a class of the JVM shows through (-1): an unknown codec is 76, an impossible length 2, all else 87. */
function codeOf(code, batch) {
  if (code !== -1) return code
  if (batch === undefined) return 2
  return protocol.codecName(batch.codec) === undefined ? 76 : 87
}

function failureOf(work) {
  try {
    work()
    return undefined
  } catch (error) {
    assert.ok(error instanceof protocol.RecordsError, String(error))
    return error
  }
}

function pick(object, names) {
  return Object.fromEntries(names.map((name) => [name, object[name]]))
}

function base64(bytes) {
  return bytes === null ? null : bytes.toString('base64')
}
