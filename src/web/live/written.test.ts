import { describe, expect, test } from 'vitest'
import type { Block, Entry, MessageFact, Reading, SessionView } from '#model'
import { createTold, type Told } from './told.ts'
import { indexWritten } from './written.ts'

const BEGUN = '2026-11-16T15:22:08.733Z'
const text = (words: string): Block => ({ kind: 'text', text: words })
const thought = (words: string): Block => ({ kind: 'thinking', thinking: words })

/** What an agent wrote, under ids of its own. */
function write(
  ...entries: readonly (readonly [Entry['kind'], Block, string, string?])[]
): readonly Reading[] {
  return entries.map(([kind, block, at, messageId], index): Reading => {
    const envelope = {
      id: `own-${index}`,
      place: { offset: index, length: 1 },
      raw: new Uint8Array(0),
      type: '',
      at,
    }
    const blocks = [block]
    switch (kind) {
      case 'prompt':
        return { kind: 'entry', entry: { kind, ...envelope, blocks, origin: 'person', midTurn: false } }
      case 'result':
        return { kind: 'entry', entry: { kind, ...envelope, blocks } }
      default:
        return {
          kind: 'entry',
          entry: { kind: 'reply', ...envelope, messageId, blocks, synthetic: false, apiError: false },
        }
    }
  })
}

/** What was told of a turn. */
function tell(...messages: readonly Omit<MessageFact, 'kind'>[]): readonly Told[] {
  const told = createTold()
  const facts = messages.map((message): MessageFact => ({ kind: 'message', ...message }))
  const turn: SessionView['turn'] = { startedAt: BEGUN, messages: facts, dropped: 0, streaming: [] }
  told.takeView({
    sessionId: 's',
    run: 'r',
    seq: 1,
    pid: 1,
    agent: 'opencode',
    can: {
      resume: true,
      fork: true,
      interrupt: true,
      editInput: false,
      denialWords: false,
      midTurn: false,
      images: true,
      writesTranscript: true,
    },
    workdir: '/work',
    startedAt: BEGUN,
    state: { state: 'idle' },
    mode: 'default',
    tools: [],
    commands: [],
    prompts: [],
    attentions: [],
    turn,
  })
  return told.read()
}

describe('what an agent writes under other ids than it tells', () => {
  test('[LVR1] prompts, thoughts, words, calls and results are found where they are written', () => {
    const readings = write(
      ['prompt', text('"go on"'), '2026-11-16T15:22:08.900Z'],
      ['reply', thought('Thinking: about plums'), '2026-11-16T15:22:09.000Z', 'm1'],
      ['reply', text('The plum is blue.'), '2026-11-16T15:22:09.000Z', 'm1'],
      [
        'reply',
        { kind: 'tool-use', id: 'call-1', name: 'bash', input: {} },
        '2026-11-16T15:22:09.000Z',
        'm1',
      ],
      ['result', { kind: 'tool-result', toolUseId: 'call-1', content: [], isError: false }, BEGUN],
    )
    const told = tell(
      { id: 'p1', role: 'person', blocks: [text('go on')] },
      { role: 'agent', messageId: 'acp-1', block: 0, blocks: [thought('**Thinking**\nabout plums')] },
      { role: 'agent', messageId: 'acp-1', block: 1, blocks: [text('The plum is blue.')] },
      {
        role: 'agent',
        messageId: 'call-1',
        block: 0,
        blocks: [{ kind: 'tool-use', id: 'call-1', name: 'bash', input: {} }],
      },
      { role: 'tool', blocks: [{ kind: 'tool-result', toolUseId: 'call-1', content: [], isError: false }] },
    )
    expect(told.map(indexWritten(readings))).toEqual([0, 1, 2, 3, 4])
  })

  test('[LVR1] the same words of an earlier turn are something else', () => {
    const readings = write(
      ['prompt', text('go on'), '2026-11-16T15:00:00.000Z'],
      ['reply', text('Done.'), '2026-11-16T15:00:01.000Z', 'm0'],
    )
    const told = tell(
      { id: 'p1', role: 'person', blocks: [text('go on')] },
      { role: 'agent', messageId: 'acp-1', block: 0, blocks: [text('Done.')] },
    )
    expect(told.map(indexWritten(readings))).toEqual([undefined, undefined])
  })
})
