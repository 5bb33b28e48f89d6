/** Writes to a file until all of it is taken, however short the single writes are. A disk that takes nothing has failed. */
import { DiskError, type DiskFile } from './ports.js'

/** @throws DiskError */
export function writeAllNow(file: Pick<DiskFile, 'path' | 'writevNow'>, slices: readonly Buffer[], position: number): void {
  let left = without(slices, 0)
  for (let at = position; left.length > 0; ) {
    const taken = file.writevNow(left, at)
    requireProgress(taken, file.path)
    at += taken
    left = without(left, taken)
  }
}

/** @throws DiskError */
export async function writeAll(
  file: Pick<DiskFile, 'path' | 'writev'>,
  slices: readonly Buffer[],
  position: number,
): Promise<void> {
  let left = without(slices, 0)
  for (let at = position; left.length > 0; ) {
    const taken = await file.writev(left, at)
    requireProgress(taken, file.path)
    at += taken
    left = without(left, taken)
  }
}

function requireProgress(taken: number, path: string): void {
  if (taken === 0) throw new DiskError('EIO', 'write', path, 'nothing was taken')
}

/** The slices without their first bytes, and without empty ones there. */
function without(slices: readonly Buffer[], count: number): readonly Buffer[] {
  let left = count
  let at = 0
  while (at < slices.length && left >= slices[at]!.length) left -= slices[at++]!.length
  if (at === slices.length) return []
  if (at === 0 && left === 0) return slices
  return left === 0 ? slices.slice(at) : [slices[at]!.subarray(left), ...slices.slice(at + 1)]
}
