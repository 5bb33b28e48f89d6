// A server.properties is read as java.util.Properties reads it.
import assert from 'node:assert/strict'
import { parseProperties } from './server-properties.js'

const parse = (text: string) => Object.fromEntries(parseProperties(text))

describe('A properties file', () => {
  it('has comments, blank lines and three kinds of separators', () => {
    assert.deepEqual(parse('# comment\n! other comment\n\n  a = 1\nb:2\nc 3\nd\n e\t=\tx y \n'), {
      a: '1',
      b: '2',
      c: '3',
      d: '',
      e: 'x y ',
    })
  })
  it('continues a line that ends with a backslash', () => {
    assert.deepEqual(parse('a=1,\\\n   2,\\\n\t3\nb=x\\\\\nc=y'), { a: '1,2,3', b: 'x\\', c: 'y' })
  })
  it('has escapes in keys and values', () => {
    assert.deepEqual(parse('a\\=b=c\\u00e9\\n\\q\nd\\ e=f'), { 'a=b': 'cé\nq', 'd e': 'f' })
  })
  it('counts the last of a key that stands twice, and takes any line end', () => {
    assert.deepEqual(parse('a=1\r\na=2\rb=3'), { a: '2', b: '3' })
  })
  it('keeps = and : inside a value', () => {
    assert.deepEqual(parse('listeners=PLAINTEXT://:9092\nx==y'), { listeners: 'PLAINTEXT://:9092', x: '=y' })
  })
})
