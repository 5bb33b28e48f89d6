// A connection that writes whatever bytes it is given and tells what comes back: whole frames, or the end.
import { connect } from 'node:net'
import { decodeResponse, encodeRequest, FrameReader } from '@mq/protocol'

export class RawConnection {
  #socket
  #reader = new FrameReader(2 ** 28)
  #frames = []
  #waiting
  #correlationId = 0
  isClosed = false

  constructor(socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#frames.push(...this.#reader.push(chunk))
      this.#wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
      this.#wake()
    })
  }

  /** `from` is a local address; many connections in a short time need more than one. */
  static open(port, from) {
    return new Promise((done, fail) => {
      const socket = connect({ port, host: '127.0.0.1', ...(from && { localAddress: from }), noDelay: true })
      socket.once('error', fail)
      socket.once('connect', () => {
        socket.off('error', fail)
        done(new RawConnection(socket))
      })
    })
  }

  write(bytes) {
    this.#socket.write(bytes)
  }

  /** The next frame without its size, `'closed'`, or `'silent'` when neither came within `withinMs`. */
  async next(withinMs) {
    // Bytes of an answer that is not whole yet end no wait.
    for (const until = performance.now() + withinMs; this.#frames.length === 0 && !this.isClosed; ) {
      const left = until - performance.now()
      if (left <= 0) {
        // What came while this process was busy with something else is read after the timers: it is no silence of the broker's.
        await new Promise(setImmediate)
        break
      }
      await new Promise((done) => {
        const late = setTimeout(done, left)
        this.#waiting = () => {
          clearTimeout(late)
          done()
        }
      })
      this.#waiting = undefined
    }
    return this.#frames.shift() ?? (this.isClosed ? 'closed' : 'silent')
  }

  async ask(api, version, body, withinMs = 30_000) {
    const correlationId = ++this.#correlationId
    for (const slice of encodeRequest({ api, version, correlationId, clientId: 'robustness', body })) this.#socket.write(slice)
    const frame = await this.next(withinMs)
    if (typeof frame === 'string') throw new Error(`${api} v${version}: ${frame}`)
    const answer = decodeResponse({ api, version, frame })
    if (answer.correlationId !== correlationId)
      throw new Error(`${api} v${version}: answer ${answer.correlationId} to request ${correlationId}`)
    return answer.body
  }

  pause() {
    this.#socket.pause()
  }

  /** Gone at once, as a client that died. */
  drop() {
    this.isClosed = true
    this.#socket.destroy()
  }

  #wake() {
    this.#waiting?.()
  }
}
