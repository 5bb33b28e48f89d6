import assert from 'node:assert/strict'
import { metaPropertiesToText, partitionMetadataToText, readMetaProperties, readPartitionMetadata } from './directory-files.js'
import { markedFolderName, partitionFolder, segmentFile, segmentFileName } from './folder-names.js'

describe('the other files of a directory', () => {
  it('meta.properties is read as Java writes it', () => {
    const java = '#\n#Sun Nov 29 20:48:30 UTC 2026\nbroker.id=1\nversion=0\ncluster.id=3Plo15CCRBieq-ekfFGtYQ\n'
    assert.deepEqual(readMetaProperties(Buffer.from(java)), { brokerId: 1, clusterId: '3Plo15CCRBieq-ekfFGtYQ' })
    const now = Date.UTC(2026, 10, 29, 20, 48, 30)
    const ours = metaPropertiesToText({ brokerId: 1, clusterId: '3Plo15CCRBieq-ekfFGtYQ' }, now)
    assert.deepEqual(ours.toString(), java)
    assert.deepEqual(readMetaProperties(Buffer.from('version : 0\r\n broker.id = 7\ncluster.id=a\\:b')), {
      brokerId: 7,
      clusterId: 'a:b',
    })
    for (const text of [
      '',
      'version=1\nnode.id=1\ncluster.id=x',
      'version=0\ncluster.id=x',
      'version=0\nbroker.id=x\ncluster.id=y',
      'version=0\nbroker.id=1',
    ]) {
      assert.ok('problem' in readMetaProperties(Buffer.from(text)), text)
    }
  })

  it('partition.metadata has 43 bytes', () => {
    const bytes = partitionMetadataToText('8XLSOK79Qims9UQ6_LOoxQ')
    assert.equal(bytes.length, 43)
    assert.deepEqual(readPartitionMetadata(bytes), { topicId: '8XLSOK79Qims9UQ6_LOoxQ' })
    for (const text of ['', 'version: 1\ntopic_id: 8XLSOK79Qims9UQ6_LOoxQ', 'version: 0\ntopic_id: short']) {
      assert.ok('problem' in readPartitionMetadata(Buffer.from(text)))
    }
  })

  it('folders are told apart by their names', () => {
    const partition = { topic: 'a-b.c_1', partition: 12 }
    assert.deepEqual(partitionFolder('a-b.c_1-12'), { kind: 'partition', partition })
    const id = '16218be975e84767b4d54964b9ac2da9'
    for (const kind of ['delete', 'stray', 'future'] as const) {
      const name = markedFolderName(partition, kind, id)
      assert.equal(name, `a-b.c_1-12.${id}-${kind}`)
      assert.deepEqual(partitionFolder(name), { kind, partition })
    }
    const long = markedFolderName({ topic: 'x'.repeat(249), partition: 7 }, 'delete', id)
    assert.equal(long.length, 255)
    for (const name of ['topic', 'topic-', 'topic-01', '-1', 'a b-1', 'mq-metadata.log', 'topic-99999999999'])
      assert.equal(partitionFolder(name), null, name)
  })

  it('segment files have 20 digits', () => {
    assert.equal(segmentFileName(327, 'snapshot'), '00000000000000000327.snapshot')
    assert.deepEqual(segmentFile('00000000000000000327.log.deleted'), { baseOffset: 327, kind: 'log', suffix: '.deleted' })
    for (const name of ['327.log', '00000000000000000327.lo', '00000000000000000327.log.tmp', '99999999999999999999.log'])
      assert.equal(segmentFile(name), null)
  })
})
