/** What lies in a partition's folder by name: asked of the disk once, for all who open it. */
import { type SegmentFile, segmentFile } from './folder-names.js'
import type { Disk } from './ports.js'

export interface NamedFile {
  readonly name: string
  readonly file: SegmentFile
}

export class FolderListing {
  /** Of segments and snapshots, with those of an interrupted change. */
  readonly segmentFiles: readonly NamedFile[]
  readonly #names: ReadonlySet<string>

  constructor(disk: Disk, path: string) {
    const names = new Set<string>()
    const files: NamedFile[] = []
    for (const { name, kind } of disk.listNow(path)) {
      names.add(name)
      const file = kind === 'file' ? segmentFile(name) : null
      if (file !== null) files.push({ name, file })
    }
    this.segmentFiles = files
    this.#names = names
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** Base offsets of the files of one kind that are in use, in the order of their names. */
  offsetsOf(kind: SegmentFile['kind']): number[] {
    return this.segmentFiles.filter(({ file }) => file.kind === kind && file.suffix === '').map(({ file }) => file.baseOffset)
  }
}
