import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OutlinePoint } from '#model'
import { openTempDir, type TempDir } from '#testing'
import { createLineageLog } from './lineage-log.ts'
import { createAuthorLog, readAuthorship, toAuthors, type SaidBy } from './author-log.ts'

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(async () => await temp.remove())

const ADA = { person: 'ada', machine: 'laptop' }
const BOB = { person: 'bob', machine: 'bench' }
const at = (minute: number): string => new Date(Date.UTC(2026, 1, 15, 8, minute)).toISOString()

function prompt(text: string, minute: number): OutlinePoint {
  return { kind: 'prompt', id: `${text} ${minute}`, at: at(minute), offset: 0, text, tokens: 0, toolCalls: 0 }
}

function said(line: string, minute: number, by: typeof ADA): SaidBy {
  return { line, at: at(minute), ...by }
}

function names(
  outline: readonly OutlinePoint[],
  inherited: readonly SaidBy[],
  since: readonly SaidBy[],
): string[] {
  return toAuthors(outline, { inherited, said: since }, ADA).map(({ person }) => person)
}

test('[TEA91] who said the same words at another time is told apart by the time, or by the order', () => {
  const outline = [prompt('yes', 1), prompt('go on', 2), prompt('yes', 3), prompt('yes', 4)]
  expect(names(outline, [], [said('yes', 3, BOB)])).toEqual(['ada', 'ada', 'bob', 'ada'])
  expect(names(outline, [said('yes', 1, BOB), said('go on', 2, ADA), said('yes', 3, ADA)], [])).toEqual([
    'bob',
    'ada',
    'ada',
    'ada',
  ])
  // Times that a conversion did not keep.
  const moved = outline.map((point) => ({ ...point, at: at(30) }))
  expect(names(moved, [said('yes', 1, BOB), said('go on', 2, ADA), said('yes', 3, ADA)], [])).toEqual([
    'bob',
    'ada',
    'ada',
    'ada',
  ])
})

test('[TEA91] words that were masked on the way are known by their time', () => {
  const outline = [prompt('take [redacted:token]', 1), prompt('thanks', 2)]
  expect(names(outline, [], [said('take ghp_x', 1, BOB)])).toEqual(['bob', 'ada'])
  expect(names(outline, [said('take ghp_x', 1, BOB)], [])).toEqual(['bob', 'ada'])
})

test('[TEA91] what was written down is there for whoever opens it next, also behind a torn line', async () => {
  const log = createAuthorLog(temp.path)
  expect(log.of('s')).toEqual({ inherited: [], said: [] })
  await log.addInherited('s', [said('a', 1, ADA)])
  await log.addInherited('s', [said('a', 1, ADA)])
  await log.addSaid('s', said('b', 2, BOB))
  const known = { inherited: [said('a', 1, ADA)], said: [said('b', 2, BOB)] }
  expect(createAuthorLog(temp.path).of('s')).toEqual(known)
  expect(readAuthorship(JSON.parse(JSON.stringify(known)))).toEqual(known)
  expect(readAuthorship({ said: [{ line: 1 }, null, 'x'] })).toEqual({ inherited: [], said: [] })
})

test('[TEA91] where others say that a session went on, no session here becomes a copy of it', async () => {
  const lineage = createLineageLog(temp.path)
  const to = { sessionId: 'mine', agent: 'claude', origin: { origin: 'o', machine: 'bench', person: 'bob' } }
  await lineage.add({ kind: 'handed-over', at: at(1), from: { sessionId: 's', agent: 'claude' }, to })
  for (const log of [lineage, createLineageLog(temp.path)]) {
    log.look()
    expect(log.copyOf('mine')).toBeUndefined()
    expect(await log.read('mine')).toEqual({ to: [] })
    expect((await log.read('s')).to).toMatchObject([{ sessionId: 'mine', origin: { person: 'bob' } }])
  }
})
