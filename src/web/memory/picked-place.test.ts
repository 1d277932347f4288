import { expect, test } from 'vitest'
import type { PromptMessage, ReplyMessage } from '#model'
import { findPickedPlace } from './picked-place.ts'

const envelope = { place: { offset: 0, length: 0 }, raw: new Uint8Array(0), type: 'assistant' }

function reply(texts: readonly string[], from?: { sessionId: string; entryId: string }): ReplyMessage {
  const entries = texts.map((text, at) => ({
    kind: 'reply' as const,
    id: `e${at}`,
    ...envelope,
    forkedFrom: from,
    blocks: [
      { kind: 'thinking' as const, thinking: text },
      { kind: 'text' as const, text },
    ],
    synthetic: false,
    apiError: false,
  }))
  const blocks = entries.flatMap((entry) => entry.blocks)
  return { kind: 'reply', id: 'e0', entries, blocks, calls: [], synthetic: false, apiError: false }
}

test('[MWB10] what is picked knows the entry, the block and the place it was picked at', () => {
  const message = reply(['One thing.', 'Another **bold** thing\nand more.'])
  expect(findPickedPlace({ text: 'thing.', message }, 's')).toEqual({
    sessionId: 's',
    entryId: 'e0',
    block: 1,
    position: 4,
  })
  expect(findPickedPlace({ text: 'and more.', message }, 's')).toMatchObject({ entryId: 'e1', position: 23 })
  // What is shown is not what is written: the first words decide.
  expect(findPickedPlace({ text: 'Another\nbold thing', message }, 's')).toMatchObject({
    entryId: 'e1',
    position: 0,
  })
  expect(findPickedPlace({ text: 'nowhere', message }, 's')).toEqual({ sessionId: 's', entryId: 'e0' })
})

test('[MWB10] of a copied line, the one that it was copied from counts', () => {
  const message = reply(['One thing.'], { sessionId: 'first', entryId: 'original' })
  expect(findPickedPlace({ text: 'thing', message }, 's')).toMatchObject({
    sessionId: 'first',
    entryId: 'original',
  })
  const prompt: PromptMessage = {
    kind: 'prompt',
    id: 'p',
    entries: [],
    blocks: [],
    origin: 'person',
    midTurn: false,
  }
  expect(findPickedPlace({ text: 'x', message: prompt }, 's')).toEqual({ sessionId: 's', entryId: 'p' })
})
