/**
 * Finishes, or takes back, a change of segments that a stop of the process interrupted:
 *
 *   .deleted   was only waiting to be removed: it goes
 *   .cleaned   the output of a cleaning that had not finished: it goes, and every .swap at or above it with it
 *   .swap      a finished output that was about to take the place of the segments it was made from: it does so now
 */
import { posix } from 'node:path'
import { FolderListing } from './folder-listing.js'
import type { SegmentFile } from './folder-names.js'
import type { LogContext } from './log-context.js'
import type { Folder } from './segment.js'
import { scanBatches } from './segment-scan.js'

/** What lies in the folder afterwards. */
export async function finishInterrupted({ disk, logger }: LogContext, folder: Folder): Promise<FolderListing> {
  const pathOf = (name: string) => posix.join(folder.path, name)
  const listing = new FolderListing(disk, folder.path)
  const files = listing.segmentFiles
  if (files.every(({ file }) => file.suffix === '')) return listing
  const lowestCleaned = Math.min(...files.filter(({ file }) => file.suffix === '.cleaned').map(({ file }) => file.baseOffset))
  for (const { name, file } of files) {
    const isInvalidSwap = file.suffix === '.swap' && file.baseOffset >= lowestCleaned
    if (file.suffix === '.deleted' || file.suffix === '.cleaned' || isInvalidSwap) disk.removeNow(pathOf(name))
  }
  const swaps = files.filter(({ file }) => file.suffix === '.swap' && file.baseOffset < lowestCleaned)
  if (swaps.length === 0) return new FolderListing(disk, folder.path)
  const data = swaps.filter(({ file }) => file.kind === 'log')
  const replaced = await Promise.all(
    data.map(async ({ name, file }) => ({ from: file.baseOffset, to: await endOf(pathOf(name), disk) })),
  )
  const isReplaced = ({ suffix, baseOffset }: SegmentFile) =>
    suffix === '' && replaced.some(({ from, to }) => baseOffset === from || (baseOffset >= from && baseOffset < to))
  for (const { name, file } of files) if (isReplaced(file)) disk.removeNow(pathOf(name))
  // Once the data file has its name nothing beside it is removed any more: it gets it first, and for good.
  await disk.syncDirectory(folder.path)
  const rename = ({ name }: { readonly name: string }) => disk.renameNow(pathOf(name), pathOf(name.slice(0, -'.swap'.length)))
  data.forEach(rename)
  await disk.syncDirectory(folder.path)
  for (const swap of swaps) if (swap.file.kind !== 'log') rename(swap)
  logger.info({ folder: folder.path, replaced }, 'finished an interrupted change of segments')
  return new FolderListing(disk, folder.path)
}

async function endOf(path: string, disk: LogContext['disk']): Promise<number> {
  const file = disk.openNow(path, 'read')
  try {
    let end = 0
    for await (const batch of scanBatches(file, 0, file.sizeNow())) end = batch.lastOffset + 1
    return end
  } finally {
    file.closeNow()
  }
}
