import type { SessionSummary } from '#model'
import { expect, test } from 'vitest'
import { createSessionList } from './session-list.ts'

function session(id: string, lastActivityAt: string): SessionSummary {
  return {
    id,
    agent: 'claude',
    path: id,
    size: 1,
    workdirs: [],
    workdirsComplete: true,
    subagents: [],
    toolResults: [],
    archived: false,
    state: 'ok',
    lastActivityAt,
  }
}

test('[WEB2] the list is shown with the first answer, then as events tell it, and stays while it is told anew', () => {
  const later: (() => void)[] = []
  const list = createSessionList((run) => later.push(run))
  const shown = (): readonly string[] | undefined => {
    for (const run of later.splice(0)) run()
    return list.sessions.value?.map(({ id }) => id)
  }
  const [a, b, c] = [session('a', '1'), session('b', '2'), session('c', '3')]
  expect(shown()).toBeUndefined()
  list.begin([a])
  expect(shown()).toEqual(['a'])
  list.take({ kind: 'session.changed', session: a, cursor: '' })
  list.take({ kind: 'session.changed', session: b, cursor: '' })
  expect(shown()).toEqual(['a'])
  list.take({ kind: 'caught-up', cursor: '' })
  expect(shown()).toEqual(['b', 'a'])
  list.take({ kind: 'session.changed', session: c, cursor: '' })
  list.take({ kind: 'session.removed', id: 'a', cursor: '' })
  expect(later.length).toBe(1)
  expect(shown()).toEqual(['c', 'b'])
  list.take({ kind: 'reset', reason: 'restarted', cursor: '' })
  list.take({ kind: 'session.changed', session: a, cursor: '' })
  expect(shown()).toEqual(['c', 'b'])
  list.take({ kind: 'caught-up', cursor: '' })
  expect(shown()).toEqual(['a'])
  list.begin([b])
  expect(shown()).toEqual(['a'])
})
