/** The real clock, timers, random numbers and sockets. The only file of the client that touches them. */

import net from 'node:net'
import tls from 'node:tls'
import type { Environment, SocketFactory } from './ports.js'

const LONGEST_TIMER_MS = 0x7fffffff
const KEEP_ALIVE_MS = 60_000

/** setTimeout fires at once above 2^31−1 ms: longer waits are made of several. */
function after(delayMs: number, fire: () => void): () => void {
  let timer: NodeJS.Timeout
  const arm = (left: number): void => {
    timer = setTimeout(
      () => (left > LONGEST_TIMER_MS ? arm(left - LONGEST_TIMER_MS) : fire()),
      Math.max(0, Math.min(left, LONGEST_TIMER_MS)),
    )
  }
  arm(delayMs)
  return () => clearTimeout(timer)
}

const socketFactory: SocketFactory = ({ host, port, ssl, onConnect, onread }) => {
  const socket =
    ssl === undefined
      ? net.connect({ host, port, ...(onread === undefined ? {} : { onread }) } as net.NetConnectOpts, onConnect)
      : tls.connect({ host, port, ...(net.isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  return socket
}

export const nodeEnvironment: Environment = {
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  timers: { after },
  random: { next: () => Math.random() },
  socketFactory,
  variables: process.env,
}
