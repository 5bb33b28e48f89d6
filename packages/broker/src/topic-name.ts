/** Kafka's rule for the names of topics: they are folder names and metric names, so few characters are allowed. */

const LONGEST = 249

/** Null when the name is fit, else what is wrong with it, in the words that clients know. */
export function topicNameProblem(name: string): string | null {
  const reason = reasonAgainst(name)
  return reason === null ? null : `Topic name is invalid: ${reason}`
}

function reasonAgainst(name: string): string | null {
  if (name === '') return 'the empty string is not allowed'
  if (name === '.' || name === '..') return `'${name}' is not allowed`
  if (name.length > LONGEST) return `the length of '${name}' is longer than the max allowed length ${LONGEST}`
  if (/^[A-Za-z0-9._-]+$/.test(name)) return null
  return `'${name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'`
}
