import { expect, test } from 'vitest'
import { isCopied, isMereCopy, ownSince } from './copies.ts'
import type { CopiedFrom, SessionSummary } from './session.ts'

type Copy = Pick<SessionSummary, 'id' | 'copiedFrom' | 'lastActivityAt' | 'live'>

const [EARLY, LATE] = ['2026-11-15T08:00:00.000Z', '2026-11-16T08:00:00.000Z']
const of = (id: string, until: string | undefined = EARLY): CopiedFrom => ({
  agent: 'claude',
  id,
  kind: 'converted',
  until,
})

/** Which of them are not listed. */
function unlisted(...sessions: readonly Copy[]): readonly string[] {
  const find = (id: string): Copy | undefined => sessions.find((session) => session.id === id)
  return sessions.filter((session) => isMereCopy(session, find)).map(({ id }) => id)
}

test('[CPY1] [CPY2] a copy is listed by itself once it has gone on, while it is held, and without what it was made of', () => {
  const first = { id: 'a', lastActivityAt: EARLY }
  const copy = { id: 'b', lastActivityAt: EARLY, copiedFrom: of('a') }
  expect(unlisted(first, copy)).toEqual(['b'])
  expect(unlisted(copy)).toEqual([])
  expect(unlisted(first, { ...copy, lastActivityAt: LATE })).toEqual([])
  expect(unlisted(first, { ...copy, live: { pid: 1, status: 'idle' } })).toEqual([])
  expect(unlisted(first, { ...copy, live: { pid: 1, status: 'gone' } })).toEqual(['b'])
  expect(
    unlisted(first, { ...copy, lastActivityAt: LATE, copiedFrom: { ...of('a'), until: undefined } }),
  ).toEqual(['b'])
})

test('[CPY4] copies of copies lead to the first of them, and in a circle to all', () => {
  const [b, c] = [
    { id: 'b', copiedFrom: of('a') },
    { id: 'c', copiedFrom: of('b') },
  ]
  expect(unlisted({ id: 'a' }, b, c)).toEqual(['b', 'c'])
  expect(unlisted(b, c)).toEqual(['c'])
  expect(unlisted({ id: 'a', copiedFrom: of('c') }, b, c)).toEqual([])
  expect(unlisted({ id: 'a', copiedFrom: of('a') })).toEqual([])
})

test('[CPY3] what is older than a copy was said elsewhere, and paid for there', () => {
  const copy = { createdAt: EARLY, copiedFrom: of('a', LATE) }
  expect([isCopied(copy, EARLY), isCopied(copy, LATE), isCopied(copy, '2026-11-16T08:00:00.001Z')]).toEqual([
    true,
    true,
    false,
  ])
  expect([isCopied({}, EARLY), isCopied(copy, undefined)]).toEqual([false, false])
  expect([ownSince(copy), ownSince({ createdAt: EARLY })]).toEqual([LATE, EARLY])
})
