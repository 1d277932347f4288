import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { string } from '#base'
import { openTempDir, runs } from '#testing'
import { rewriteSharedJournal } from './rewrite.ts'
import { openSharedJournal } from './shared-journal.ts'

test('[J19] what is taken out is gone, and every other byte stays, damage included', async () => {
  const dir = await openTempDir()
  let count = 0
  const line = fc.oneof(
    fc.record({ id: fc.constantFrom('a', 'b'), text: fc.string() }).map((value) => JSON.stringify(value)),
    fc.constantFrom('{"torn', '', '\u0000\u0000', 'not json', '[]', '{"id":3}'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (some) => {
      // A torn tail would be set aside, as by every writer.
      const lines = [...some, '{"id":"last"}']
      const path = join(dir.path, `${++count}.jsonl`)
      await writeFile(path, lines.map((each) => `${each}\n`).join(''), { mode: 0o600 })
      const isA = (each: string): boolean => each.startsWith('{"id":"a"')
      const added = { id: 'c' }
      const removed = await rewriteSharedJournal(path, {
        takesOut: (value) => string(value, 'id') === 'a',
        added: [added],
      })
      expect(removed).toBe(lines.filter(isA).length)
      const left = [...lines.filter((each) => !isA(each)), ...(removed === 0 ? [] : [JSON.stringify(added)])]
      expect(await readFile(path, 'utf8')).toBe(left.map((each) => `${each}\n`).join(''))
    }),
    runs(50),
  )
  await dir.remove()
})

test('[J19] who appends meanwhile waits, and nothing of theirs is lost', async () => {
  const dir = await openTempDir()
  const path = join(dir.path, 'shared.jsonl')
  async function append(id: string): Promise<void> {
    const journal = await openSharedJournal(path)
    await journal.append({ id })
    await journal.close()
  }
  for (const id of ['a', 'b', 'a']) await append(id)
  await Promise.all([
    ...Array.from({ length: 8 }, (_, n) => append(`n${n}`)),
    rewriteSharedJournal(path, { takesOut: (value) => string(value, 'id') === 'a', added: [{ id: 'x' }] }),
  ])
  const ids = (await readFile(path, 'utf8')).trimEnd().split('\n')
  expect(ids.toSorted()).toEqual(
    ['b', 'x', ...Array.from({ length: 8 }, (_, n) => `n${n}`)]
      .map((id) => JSON.stringify({ id }))
      .toSorted(),
  )
  await dir.remove()
})
