import { signal } from '@preact/signals'
import type { Attention } from '#model'
import type { BoardCard, LiveEvent, SubscribeOptions } from '#wire'
import { afterEach, expect, test, vi } from 'vitest'
import { followBoard } from '../live/board.ts'
import type { Cards } from '../shared.ts'
import { setNotifying } from './notifying.ts'

afterEach(() => void vi.unstubAllGlobals())

/** A hidden page whose browser lets it show notifications itself. */
function stubHiddenPage(shown: string[]): void {
  class Shown extends EventTarget {
    static readonly permission = 'granted'
    static async requestPermission(): Promise<string> {
      return 'granted'
    }
    constructor(_title: string, { tag }: { tag: string }) {
      super()
      shown.push(tag)
    }
    close(): void {}
  }
  const kept = new Map<string, string>()
  vi.stubGlobal('isSecureContext', true)
  vi.stubGlobal('Notification', Shown)
  vi.stubGlobal('navigator', {})
  vi.stubGlobal('document', { hidden: true })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  })
}

function changed(sessionId: string, ...ids: readonly string[]): LiveEvent {
  const at = '2026-03-01T12:00:00Z'
  const attentions = ids.map((id): Attention => ({
    id,
    sessionId,
    openedAt: at,
    ask: {
      kind: 'permission',
      tool: 'Bash',
      input: {},
      workdir: '/home/user/shop',
      rules: [],
      canEdit: true,
    },
    hash: 'h',
    state: { state: 'open' },
  }))
  const card: BoardCard = {
    sessionId,
    agent: 'scripted',
    workdir: '/home/user/shop',
    where: 'here',
    state: { state: 'waiting' },
    startedAt: at,
    changedAt: at,
    attentions,
    waitingPrompts: 0,
  }
  return { kind: 'board.changed', card, cursor: '1' }
}

test('[LWB36] what comes while the board is about to be shown for the first time is news, and what was there is not', async () => {
  const shown: string[] = []
  stubHiddenPage(shown)
  await setNotifying('on')
  shown.splice(0)
  let tell: SubscribeOptions['onEvent'] = () => {}
  const throughline = {
    subscribe(_topic: unknown, { onEvent }: SubscribeOptions) {
      tell = onEvent
      return { cursor: undefined, close: () => {} }
    },
  }
  followBoard({ throughline, sessions: signal([]), go: () => {} }, signal<Cards>(new Map()))
  await tell(changed('a', 'old'))
  await tell({ kind: 'caught-up', cursor: '1' })
  await tell(changed('b', 'new'))
  await expect.poll(() => shown).not.toEqual([])
  await tell(changed('c', 'newer'))
  await expect.poll(() => shown).toEqual(['new', 'newer'])
})
