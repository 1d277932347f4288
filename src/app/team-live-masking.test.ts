import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Attention, SessionView } from '#model'
import { BEGUN_VIEW, runs } from '#testing'
import type { BoardCard } from '#wire'
import { maskSecrets } from './mask-secrets.ts'
import { createShowing, isShownWhole } from './team-live-masking.ts'
import { readCard, readShownView } from './team-live-reading.ts'

const TOKEN = ['ghp', 'Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z0a'].join('_')
const AT = '2026-02-15T08:30:00.000Z'

function attention(input: unknown): Attention {
  return {
    id: 'a1',
    sessionId: 's1',
    openedAt: AT,
    hash: 'h1',
    state: { state: 'open' },
    ask: { kind: 'permission', tool: 'Bash', input, workdir: '/w', rules: [], canEdit: true },
  }
}

function card(...attentions: readonly Attention[]): BoardCard {
  const state = { state: 'waiting' } as const
  const times = { startedAt: AT, changedAt: AT }
  return {
    sessionId: 's1',
    agent: 'scripted',
    workdir: '/w',
    where: 'here',
    state,
    ...times,
    attentions,
    waitingPrompts: 0,
  }
}

function view(parts: Partial<SessionView>): SessionView {
  return { ...BEGUN_VIEW, sessionId: 's1', ...parts }
}

describe('what is shown of a live session', () => {
  test('[TEA88] it comes out as it went in, where there is nothing to mask', () => {
    const asked = card(attention({ command: 'npm test' }))
    const shown = createShowing(maskSecrets)(asked, view({ attentions: asked.attentions }))
    expect(readCard(shown.card, 's1')).toEqual({ card: asked, alias: undefined })
    expect(readShownView(shown.view ?? Buffer.alloc(0), 's1')?.attentions).toEqual(asked.attentions)
  })

  test('[TEA88] a secret is masked wherever it stands, and what asks with one is marked', () => {
    const inputs = [
      { command: `curl -H "x: ${TOKEN}"` },
      { [TOKEN]: 1 },
      { password: 'hunter2hunter2' },
      [[[TOKEN]]],
    ]
    for (const input of inputs) {
      const shown = createShowing(maskSecrets)(
        card(attention(input)),
        view({ attentions: [attention(input)] }),
      )
      const text = `${shown.card.toString()} ${shown.view?.toString() ?? ''}`
      expect(text).not.toContain(TOKEN.slice(4))
      expect(text).not.toContain('hunter2hunter2')
      expect(readCard(shown.card, 's1')?.card.attentions).toMatchObject([{ masked: true, hash: 'h1' }])
      expect(isShownWhole(attention(input).ask, maskSecrets)).toBe(false)
    }
  })

  test('[TEA88] of a secret in flight nothing is shown, however it is cut', () => {
    const text = `The token is ${TOKEN} and that is it.`
    fc.assert(
      fc.property(fc.nat(text.length), (length) => {
        const delta = {
          kind: 'delta',
          messageId: 'm',
          block: 0,
          what: 'text',
          text: text.slice(0, length),
        } as const
        const turn = { startedAt: AT, messages: [], dropped: 0, streaming: [delta] }
        const shown = createShowing(maskSecrets)(card(), view({ turn })).view?.toString() ?? ''
        expect(shown).not.toContain('ghp_')
      }),
      runs(60),
    )
  })

  test('[TEA88] what cannot be masked stays, and the card has the name of the tool alone', () => {
    const fail = (): string => {
      throw new Error('out of order')
    }
    const asked = card(attention({ command: 'rm -rf important' }))
    const shown = createShowing(fail)(
      { ...asked, trouble: 'words of it' },
      view({ attentions: asked.attentions }),
    )
    expect(shown.view).toBeUndefined()
    expect(shown.card.toString()).not.toMatch(/important|words of it/)
    expect(readCard(shown.card, 's1')?.card.attentions).toMatchObject([
      { masked: true, ask: { tool: 'Bash', input: {}, rules: [], canEdit: false } },
    ])
    expect(isShownWhole(attention({}).ask, fail)).toBe(false)
  })

  test('[TEA88] what is too long to be shown whole can only be denied', () => {
    const long = attention({ content: 'x '.repeat(400_000) })
    expect(isShownWhole(long.ask, maskSecrets)).toBe(false)
    expect(createShowing(maskSecrets)(card(long)).card.length).toBeLessThan(10_000)
  })

  test('[TEA80] whatever another machine shows is read, or is not there', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.constant({ state: { state: 'idle' }, attentions: 1, turn: [] })),
        (value) => {
          const bytes = Buffer.from(JSON.stringify(value))
          const read = readCard(bytes, 's1')
          expect(read === undefined || read.card.sessionId === 's1').toBe(true)
          expect(() => readShownView(bytes, 's1')).not.toThrow()
        },
      ),
      runs(200),
    )
  })
})
