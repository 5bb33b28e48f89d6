// A disk of a given size: a tmpfs in a mount namespace of its own, so that nothing of it is left on the machine. Needs root, or a kernel that
// gives users namespaces.
import { spawn, spawnSync } from 'node:child_process'
import { Missing } from '../../tools/toolchain/cache.mjs'

/** `wrap` starts a program that sees the disk at `path`. `fill` leaves no room on it, `grow` gives it a new size and takes the filling away. */
export async function smallDisk(path, size) {
  const isRoot = process.getuid?.() === 0
  const own = isRoot ? ['--mount'] : ['--mount', '--user', '--map-root-user']
  const script = 'mount -t tmpfs -o size="$1" mq "$0" && echo mounted && exec sleep 600'
  const holder = spawn('unshare', [...own, 'sh', '-c', script, path, size], { stdio: ['ignore', 'pipe', 'pipe'] })
  const why = await new Promise((done) => {
    let said = ''
    holder.stderr.on('data', (chunk) => {
      said += chunk
    })
    holder.stdout.on('data', () => done(null))
    holder.on('error', (error) => done(error.message))
    holder.on('close', () => done(said || 'it ended'))
  })
  if (why !== null) throw new Missing(`no file system of its own can be mounted here: ${why.trim()}`)
  const wrap = ['nsenter', '--target', String(holder.pid), '--mount', ...(isRoot ? [] : ['--user', '--preserve-credentials'])]
  const inside = (command, ...args) => {
    const [program, ...rest] = wrap
    spawnSync(program, [...rest, 'sh', '-c', command, ...args])
  }
  return {
    path,
    wrap,
    fill: () => inside('dd if=/dev/zero of="$0/filling" bs=4096 2>/dev/null', path),
    grow: (to) => inside('rm -f "$0/filling"; mount -o remount,size="$1" "$0"', path, to),
    free: () => holder.kill('SIGKILL'),
  }
}
