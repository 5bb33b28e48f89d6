// The command line: what each flag means, and usage errors in one line.
import assert from 'node:assert/strict'
import { parseFlags } from './flags.js'

const wrong = (...args: string[]) => {
  const flags = parseFlags(args)
  return 'wrong' in flags ? flags.wrong : 'fine'
}

describe('The command line', () => {
  it('is empty for the standalone profile', () => {
    assert.deepEqual(parseFlags([]), {
      file: undefined,
      data: undefined,
      memory: false,
      overrides: [],
      printConfig: false,
      logLevel: 'info',
      help: false,
      version: false,
    })
  })
  it('takes a file and overrides, whose values may hold an equals sign', () => {
    const flags = parseFlags(['server.properties', '--override', 'a.b=c=d', '--override=e.f=', '--log-level', 'warn'])
    assert.deepEqual('wrong' in flags ? flags : [flags.file, flags.overrides, flags.logLevel], [
      'server.properties',
      [
        ['a.b', 'c=d'],
        ['e.f', ''],
      ],
      'warn',
    ])
  })
  it('says what is wrong', () => {
    assert.match(wrong('--nope'), /nope/)
    assert.match(wrong('--override', 'novalue'), /NAME=VALUE, and not novalue/)
    assert.match(wrong('--log-level', 'loud'), /debug, info, warn, error, silent, and not loud/)
    assert.match(wrong('one', 'two'), /also two/)
    assert.match(wrong('--memory', '--data', 'x'), /not both/)
    assert.match(wrong('--data'), /data/)
  })
})
