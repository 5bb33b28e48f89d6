/** What a piece of work took: CPU time of all threads of this process, and time on the wall. */

export interface Usage {
  readonly count: number
  readonly bytes: number
  readonly cpuMs: number
  readonly wallMs: number
}

export function beginUsage(): (count: number, bytes: number) => Usage {
  const cpu = process.cpuUsage()
  const began = performance.now()
  return (count, bytes) => {
    const wallMs = performance.now() - began
    const { user, system } = process.cpuUsage(cpu)
    return { count, bytes, cpuMs: (user + system) / 1000, wallMs }
  }
}

export const mbPerCpuSecond = ({ bytes, cpuMs }: Usage): number => bytes / 1000 / cpuMs
export const mbPerSecond = ({ bytes, wallMs }: Usage): number => bytes / 1000 / wallMs
export const perCpuSecond = ({ count, cpuMs }: Usage): number => (count * 1000) / cpuMs
export const perSecond = ({ count, wallMs }: Usage): number => (count * 1000) / wallMs
