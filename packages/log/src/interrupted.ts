/**
 * Finishes, or takes back, a change of segments that a stop of the process interrupted:
 *
 *   .deleted   was only waiting to be removed: it goes
 *   .cleaned   the output of a cleaning that had not finished: it goes, and every .swap at or above it with it
 *   .swap      a finished output that was about to take the place of the segments it was made from: it does so now
 */
import { posix } from 'node:path'
import { type SegmentFile, segmentFile } from './folder-names.js'
import type { LogContext } from './log-context.js'
import type { Folder } from './segment.js'
import { scanBatches } from './segment-scan.js'

export async function finishInterrupted({ disk, logger }: LogContext, folder: Folder): Promise<void> {
  const pathOf = (name: string) => posix.join(folder.path, name)
  const files: { readonly name: string; readonly file: SegmentFile }[] = []
  for (const { name, kind } of disk.listNow(folder.path)) {
    const file = kind === 'file' ? segmentFile(name) : null
    if (file !== null) files.push({ name, file })
  }
  const lowestCleaned = Math.min(...files.filter(({ file }) => file.suffix === '.cleaned').map(({ file }) => file.baseOffset))
  for (const { name, file } of files) {
    const isInvalidSwap = file.suffix === '.swap' && file.baseOffset >= lowestCleaned
    if (file.suffix === '.deleted' || file.suffix === '.cleaned' || isInvalidSwap) disk.removeNow(pathOf(name))
  }
  const swaps = files.filter(({ file }) => file.suffix === '.swap' && file.baseOffset < lowestCleaned)
  if (swaps.length === 0) return
  let from = Number.POSITIVE_INFINITY
  let to = 0
  for (const { name, file } of swaps.filter((swap) => swap.file.kind === 'log')) {
    from = Math.min(from, file.baseOffset)
    to = Math.max(to, await endOf(pathOf(name), disk))
  }
  for (const { name, file } of files) {
    if (file.suffix === '' && file.baseOffset >= from && file.baseOffset < to) disk.removeNow(pathOf(name))
  }
  for (const { name } of swaps) disk.renameNow(pathOf(name), pathOf(name.slice(0, -'.swap'.length)))
  logger.info({ folder: folder.path, from, to }, 'finished an interrupted change of segments')
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
