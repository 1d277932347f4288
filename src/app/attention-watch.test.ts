import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Attention } from '#model'
import { eventually, NO_LIVE, openTempDir, type TempDir } from '#testing'
import type { BoardCard, LiveEvent, Throughline } from '#wire'
import { watchAttentions } from './attention-watch.ts'
import type { Notifier } from './desktop-notice.ts'

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(() => temp.remove())

function attention(id: string): Attention {
  return {
    id,
    sessionId: 's',
    openedAt: '2026-01-01T00:00:00Z',
    hash: id,
    state: { state: 'open' },
    ask: { kind: 'permission', tool: 'Bash', input: {}, workdir: '/work', rules: [], canEdit: false },
  }
}

function card(...ids: readonly string[]): LiveEvent {
  const shown: BoardCard = {
    sessionId: 's',
    agent: 'scripted',
    workdir: '/work',
    where: 'here',
    state: { state: ids.length > 0 ? 'waiting' : 'idle' },
    startedAt: '',
    changedAt: '',
    attentions: ids.map(attention),
    waitingPrompts: 0,
  }
  return { kind: 'board.changed', card: shown, cursor: '0' }
}

test('[NTC5] the desktop is told what waits when no page is open, once, and not when it was switched off', async () => {
  const home = join(temp.path, 'home')
  mkdirSync(home)
  const told: string[] = []
  const notifier: Notifier = {
    opened: ({ id }) => void told.push(`opened ${id}`),
    settled: (id) => void told.push(`settled ${id}`),
    close: () => Promise.resolve(),
  }
  let isWatched = false
  let tell: (event: LiveEvent) => void = () => {}
  const throughline: Pick<Throughline, 'live' | 'subscribe'> = {
    live: NO_LIVE,
    subscribe(_topic, options) {
      tell = (event) => void options.onEvent(event)
      return { cursor: undefined, close: () => {} }
    },
  }
  const watch = watchAttentions({
    home,
    throughline,
    isWatched: () => isWatched,
    onNotice: () => {},
    notifier,
  })
  tell(card('a'))
  tell(card('a'))
  await eventually(async () => expect(told).toEqual(['opened a']))
  isWatched = true
  tell(card('a', 'b'))
  isWatched = false
  tell(card('b'))
  await eventually(async () => expect(told).toEqual(['opened a', 'settled a']))
  writeFileSync(join(home, 'config.json'), JSON.stringify({ notifications: { desktop: false } }))
  tell(card('b', 'c'))
  tell({ kind: 'board.removed', session: 's', cursor: '0' })
  await eventually(async () => expect(told).toEqual(['opened a', 'settled a', 'settled b', 'settled c']))
  await watch.close()
})
