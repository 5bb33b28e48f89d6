import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LeaderEpochs } from './leader-epochs.js'
import { propertyOptions } from './property-options.test.support.js'

describe('leader epochs', () => {
  it('agree with a twin that asks every entry, and keep rising', () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('assign' as const), epoch: fc.nat(12), offset: fc.nat(60) }),
      fc.record({ kind: fc.constantFrom('cutEnd' as const, 'cutStart' as const), epoch: fc.constant(0), offset: fc.nat(60) }),
    )
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const epochs = new LeaderEpochs()
        let twin: { epoch: number; startOffset: number }[] = []
        for (const { kind, epoch, offset } of changes) {
          if (kind === 'assign') {
            const last = twin.at(-1)
            const changed = last === undefined || last.epoch !== epoch || offset < last.startOffset
            assert.equal(epochs.assign(epoch, offset), changed)
            if (!changed) continue
            while (twin.length > 0 && (twin.at(-1)!.epoch >= epoch || twin.at(-1)!.startOffset >= offset)) twin.pop()
            twin.push({ epoch, startOffset: offset })
          } else if (kind === 'cutEnd') {
            epochs.truncateFromEnd(offset)
            twin = twin.filter(({ startOffset }) => startOffset < offset)
          } else {
            epochs.truncateFromStart(offset)
            const before = twin.filter(({ startOffset }) => startOffset <= offset)
            if (before.length > 0) twin = [{ epoch: before.at(-1)!.epoch, startOffset: offset }, ...twin.slice(before.length)]
          }
          assert.deepEqual(epochs.entries, twin)
          for (const [at, entry] of twin.entries()) {
            if (at > 0) assert.ok(entry.epoch > twin[at - 1]!.epoch && entry.startOffset > twin[at - 1]!.startOffset)
          }
          for (let asked = -1; asked < 14; asked++) {
            const latest = twin.at(-1)?.epoch
            const higher = twin.find((entry) => entry.epoch > asked)
            const floor = twin.findLast((entry) => entry.epoch <= asked)
            const found =
              asked < 0
                ? null
                : asked === latest
                  ? { epoch: asked, endOffset: 100 }
                  : higher === undefined
                    ? null
                    : { epoch: floor?.epoch ?? asked, endOffset: higher.startOffset }
            assert.deepEqual(epochs.endOffsetFor(asked, 100), found)
          }
        }
      }),
      propertyOptions(200),
    )
  })
})
