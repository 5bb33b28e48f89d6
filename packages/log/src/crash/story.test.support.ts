/** What a stop left and what had been promised, to be read by whoever looks for the reason of a failure. */
import type { MemoryDisk } from '../memory-disk.js'
import type { Crash } from './machine.test.support.js'
import type { PartitionModel } from './model.test.support.js'

export function storyOf({ disk, model }: Crash): string {
  const folders = disk.statNow('/data') === null ? [] : disk.listNow('/data').filter(({ kind }) => kind === 'directory')
  const files = folders.map(({ name }) => `${name}: ${filesIn(disk, `/data/${name}`)}`)
  return [...files, ...[...model.partitions.values()].map(promisesOf)].join('\n')
}

const filesIn = (disk: MemoryDisk, folder: string): string =>
  disk
    .listNow(folder)
    .map(({ name }) => `${name.replace(/^0{15}/, '')}=${disk.statNow(`${folder}/${name}`)!.sizeInBytes}`)
    .join(' ')

/** A batch as `first-last`, `e` leader epoch, `p` producer, `!` for a marker. */
function promisesOf({ name, start, end, durableStart, durableEnd, underWay, history }: PartitionModel): string {
  const batches = history.batches.map(({ baseOffset, lastOffset, leaderEpoch, ofProducer, isControl }) => {
    const producer = ofProducer === null ? '' : `p${ofProducer.producerId}${isControl ? '!' : ''}`
    return `${baseOffset}-${lastOffset}e${leaderEpoch}${producer}`
  })
  const doing = underWay === null ? 'idle' : underWay.kind
  return `${name}: ${start} to ${end}, promised ${durableStart} to ${durableEnd}, ${doing}, ${batches.join(' ')}`
}
