/** A file that is read whole, where it is. */
import { type Disk, DiskError } from './ports.js'

/** Null when there is no such file. */
export function readIfThere(disk: Disk, path: string): Buffer | null {
  try {
    return disk.readFileNow(path)
  } catch (error) {
    if (error instanceof DiskError && error.code === 'ENOENT') return null
    throw error
  }
}
