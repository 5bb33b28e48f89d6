/** The messages beside error codes: they repeat names and values of requests, and an answer has to be able to hold them. */

/** A string of an answer has room for 32,767 bytes, and a reader for less: a thousand characters are at most three thousand bytes. */
const LONGEST = 1000
const CUT = '…'

/** The message, cut where it is longer than 1,000 characters. Every message that repeats anything of a request goes through here. */
export const answerMessage = <Message extends string | null>(message: Message): Message =>
  (message === null || message.length <= LONGEST ? message : withoutHalf(message.slice(0, LONGEST - CUT.length)) + CUT) as Message

/** A pair of surrogates is one character: half of it would be none. */
const withoutHalf = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, '')
