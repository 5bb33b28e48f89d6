/** Who wants to know when a log's ends move: told once after a turn, however often they moved in it. */

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

  /** An end moved. Costs nothing when nobody watches; a listener never runs inside of what moved it. */
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
