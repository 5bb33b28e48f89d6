import assert from 'node:assert/strict'
import { linesOf } from './lines.js'

describe('lines', () => {
  const cut = async (...pieces: string[]): Promise<string[][]> => {
    async function* given(): AsyncGenerator<string> {
      yield* pieces
    }
    const groups: string[][] = []
    for await (const lines of linesOf(given())) groups.push(lines)
    return groups
  }

  it('come together as far as they are whole, and the last one without an end', async () => {
    assert.deepEqual(await cut('a\nb\nc', 'd\n', '\n', 'e'), [['a', 'b'], ['cd'], [''], ['e']])
    assert.deepEqual(await cut(), [])
    assert.deepEqual(await cut('a\n'), [['a']])
  })

  it('end with \\n or \\r\\n, also where a piece ends between the two, and with nothing else', async () => {
    assert.deepEqual(await cut('a\r', '\nb\rc\u2028d\u0085e\r\n'), [['a', 'b\rc\u2028d\u0085e']])
  })
})
