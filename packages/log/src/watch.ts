/** Who wants to know when something changes, such as a log's ends: told once after a turn, however often it changed in it. */

export class Watchers {
  readonly #listeners = new Set<() => void>()
  #isTelling = false

  get count(): number {
    return this.#listeners.size
  }

  /** @returns ends it */
  add(listener: () => void): () => void {
    // One function may watch twice: each end takes away one.
    const entry = () => listener()
    this.#listeners.add(entry)
    return () => this.#listeners.delete(entry)
  }

  /** It changed. Costs nothing when nobody watches; a listener never runs inside of what changed it. */
  changed(): void {
    if (this.#listeners.size === 0 || this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => {
      this.#isTelling = false
      for (const listener of [...this.#listeners]) listener()
    })
  }
}

/**
 * Resolves once `isReady` holds; it is asked now and after each change.
 * Rejects with the signal's reason when it is aborted, and with what `isReady` throws.
 */
export function whenReady(
  watch: (listener: () => void) => () => void,
  isReady: () => boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      cancel()
      signal?.removeEventListener('abort', abort)
    }
    const abort = (): void => {
      end()
      reject(signal!.reason)
    }
    const look = (): void => {
      try {
        if (!isReady()) return
        end()
        resolve()
      } catch (error) {
        end()
        reject(error)
      }
    }
    const cancel = watch(look)
    if (signal?.aborted === true) return abort()
    signal?.addEventListener('abort', abort)
    look()
  })
}
