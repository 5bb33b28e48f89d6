/** Loads a package that may not be installed: optional native addons are a gain in speed, never a need. */

/** The module, or undefined where it is not installed or does not load on this machine. */
export function optional<Module>(name: string): Module | undefined {
  try {
    return require(name) as Module
  } catch {
    return undefined
  }
}
