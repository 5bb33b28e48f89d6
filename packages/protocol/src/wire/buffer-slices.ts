// Node's Buffer has fast methods per encoding that its published types leave out. They are stable, public on the prototype, and
// used by most binary codecs; here they get their types.

declare global {
  interface Buffer {
    utf8Slice(start: number, end: number): string
    latin1Slice(start: number, end: number): string
    base64urlSlice(start: number, end: number): string
    utf8Write(text: string, at: number, maxBytes?: number): number
    latin1Write(text: string, at: number, maxBytes?: number): number
  }
}

export {}
