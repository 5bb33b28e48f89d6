/** The part of cli-progress that we use; the package brings no types of its own. */
declare module 'cli-progress' {
  export class SingleBar {
    constructor(options: { format: string; stream?: NodeJS.WritableStream; clearOnComplete?: boolean }, preset: object)
    start(total: number, done: number): void
    update(done: number): void
    stop(): void
  }
  export const Presets: { readonly shades_classic: object }
}
