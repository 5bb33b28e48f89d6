/** mq produce: each line of standard input becomes a record. */

import { CompressionTypes } from '@mq/client'
import { type Command, Option } from 'commander'
import { commonOptions, connect, kafkaOf, nameValue, wholeNumber } from '../session.js'
import type { Terminal } from '../terminal.js'

const CODECS: Record<string, CompressionTypes> = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

interface ProduceOptions {
  keySeparator?: string
  partition?: number
  header?: { name: string; value: string }[]
  compression: string
  acks: number
}

export function produce(program: Command, terminal: Terminal): void {
  program
    .command('produce <topic>')
    .description('send each line of standard input as a record')
    .option('-k, --key-separator <text>', 'what stands between key and value; a line without it has no key')
    .option('-p, --partition <number>', 'send everything to this partition', wholeNumber(0))
    .option('-H, --header <name=value>', 'a header of every record; may be repeated', nameValue)
    .addOption(new Option('-z, --compression <codec>', 'how batches are compressed').choices(Object.keys(CODECS)).default('none'))
    .addOption(
      new Option('-a, --acks <acks>', 'who has to acknowledge: -1 all in-sync replicas, 1 the leader, 0 nobody')
        .choices(['-1', '0', '1'])
        .default('-1'),
    )
    .action(async (topic: string, options: ProduceOptions, self: Command) => {
      const common = commonOptions(self)
      const producer = kafkaOf(common).producer()
      await connect(producer, common)
      let sent = 0
      try {
        for await (const lines of terminal.lines()) {
          await producer.send({
            topic,
            acks: Number(options.acks),
            compression: CODECS[options.compression]!,
            messages: lines.map((line) => ({
              ...keyAndValue(line, options.keySeparator),
              headers: headersOf(options),
              ...(options.partition === undefined ? {} : { partition: options.partition }),
            })),
          })
          sent += lines.length
        }
      } finally {
        await producer.disconnect()
      }
      terminal.error(common.json ? `${JSON.stringify({ topic, sent })}\n` : `${sent} records sent to ${topic}\n`)
    })
}

function keyAndValue(line: string, separator: string | undefined): { key: string | null; value: string } {
  const at = separator === undefined ? -1 : line.indexOf(separator)
  return at === -1 ? { key: null, value: line } : { key: line.slice(0, at), value: line.slice(at + separator!.length) }
}

function headersOf({ header = [] }: ProduceOptions): Record<string, string[]> {
  // Without a prototype: a header may be called constructor.
  const headers: Record<string, string[]> = Object.create(null)
  for (const { name, value } of header) headers[name] = [...(headers[name] ?? []), value]
  return headers
}
