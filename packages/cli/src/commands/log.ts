/** mq log: looks into log directories without touching them; their broker may be running. */

import type { Command } from 'commander'
import type { Terminal } from '../terminal.js'
import { logDump } from './log-dump.js'
import { logVerify } from './log-verify.js'

export function log(program: Command, terminal: Terminal): void {
  const command = program
    .command('log')
    .description('verify and read log directories; nothing in them is touched, a broker may be running')
  logVerify(command, terminal)
  logDump(command, terminal)
}
