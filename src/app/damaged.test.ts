import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTempDir, runs, SESSION, writeTranscript } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'

const fixtures = join(import.meta.dirname, '../../test/fixtures/claude')
const transcripts = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.jsonl') && name.includes('projects'))
  .map((name) => readFileSync(join(fixtures, name)))
  .filter((bytes) => bytes.length < 100_000)

/** What can happen to a file, several times over. */
const harm = fc.record({
  kind: fc.constantFrom('cut', 'remove', 'zeros', 'flip', 'noise', 'repeat', 'swap'),
  at: fc.nat(),
  length: fc.integer({ min: 1, max: 3000 }),
  noise: fc.uint8Array({ minLength: 1, maxLength: 20 }),
})

test('[READ3] [C3.2] whatever happens to a real transcript, every view of it still answers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.array(harm, { maxLength: 5 }), async (which, harms) => {
      const dir = await openTempDir()
      let bytes: Buffer = transcripts[which % transcripts.length] ?? Buffer.alloc(0)
      for (const each of harms) bytes = harmed(bytes, each)
      await writeTranscript(dir.path, bytes)
      const throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: dir.path } })
      const { sessions } = await throughline.list({ full: true })
      const [session] = sessions
      expect(session?.id).toBe(SESSION)
      if (session === undefined) return
      let entries = 0
      for await (const reading of throughline.entries(session)) if (reading.kind === 'entry') entries++
      let shown = 0
      for await (const passages of throughline.passages(session)) {
        for (const passage of passages) shown += passage.kind === 'damage' ? 0 : passage.entries.length
      }
      expect(shown).toBe(entries)
      expect(session.facts?.entries).toBe(entries)
      expect((await throughline.check(session)).session.id).toBe(SESSION)
      expect((await throughline.conversation(session)).length).toBeLessThanOrEqual(entries)
      expect(
        (await throughline.page(session, { limit: entries + 1 })).readings.length,
      ).toBeGreaterThanOrEqual(entries)
      await dir.remove()
    }),
    runs(60),
  )
})

function harmed(
  bytes: Buffer,
  { kind, at, length, noise }: typeof harm extends fc.Arbitrary<infer H> ? H : never,
): Buffer {
  const start = bytes.length === 0 ? 0 : at % bytes.length
  const end = Math.min(bytes.length, start + length)
  const [head, middle, tail] = [bytes.subarray(0, start), bytes.subarray(start, end), bytes.subarray(end)]
  switch (kind) {
    case 'cut':
      return head
    case 'remove':
      return Buffer.concat([head, tail])
    case 'zeros':
      return Buffer.concat([head, Buffer.alloc(middle.length), tail])
    case 'flip':
      return Buffer.concat([
        head,
        middle.map((byte, index) => (index === 0 ? byte ^ (1 << (length % 8)) : byte)),
        tail,
      ])
    case 'noise':
      return Buffer.concat([head, noise, middle, tail])
    case 'repeat':
      return Buffer.concat([head, middle, middle, tail])
    default:
      return Buffer.concat([tail, middle, head])
  }
}
