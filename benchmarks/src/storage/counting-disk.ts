/** The disk, counting what is written to the data files: how many writes, how many bytes. */

import type { Disk, DiskFile } from '@mq/log'

export interface Writes {
  count: number
  bytes: number
}

export function countingDisk(disk: Disk, writes: Writes): Disk {
  const counted = (file: DiskFile): DiskFile => {
    const { writev, writevNow } = file
    const count = (bytes: number): number => {
      writes.count++
      writes.bytes += bytes
      return bytes
    }
    file.writev = async (slices, position) => count(await writev.call(file, slices, position))
    file.writevNow = (slices, position) => count(writevNow.call(file, slices, position))
    return file
  }
  return new Proxy(disk, {
    get(target, name) {
      if (name !== 'openNow') return Reflect.get(target, name, target)
      return (...args: Parameters<Disk['openNow']>) => {
        const file = target.openNow(...args)
        return args[0].endsWith('.log') ? counted(file) : file
      }
    },
  })
}
