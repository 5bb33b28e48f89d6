// The program's side of the contract for clients in Node: one JSON line in, one out, in order.
import { createInterface } from 'node:readline'

export function serve(handlers, codeOf) {
  let last = Promise.resolve()
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      last = last.then(() => answer(JSON.parse(line)))
    })
    .on('close', () => last.then(() => process.exit(0)))

  async function answer(request) {
    let reply
    try {
      reply = (await handlers[request.do](request)) ?? {}
    } catch (error) {
      reply = { error: String(error?.stack ?? error).slice(0, 2000), code: codeOf(error) ?? -1 }
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`)
  }
}

/** Resolves with `records` when there are `count` of them, or with what there is after 30 s. */
export function collected(records, count, whenMore) {
  return new Promise((done) => {
    const late = setTimeout(() => done(records), 30_000)
    whenMore(() => {
      if (records.length < count) return
      clearTimeout(late)
      done(records)
    })
    if (records.length >= count) {
      clearTimeout(late)
      done(records)
    }
  })
}
