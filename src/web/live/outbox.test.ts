import { ThroughlineError, type ErrorCode } from '#base'
import { textOf, type Block } from '#model'
import { BEGUN_VIEW, NO_LIVE } from '#testing'
import type { LiveCalls, PromptRequest, ResumeRequest } from '#wire'
import { expect, test } from 'vitest'
import { createOutbox, type Outbox } from './outbox.ts'

type Asked = {
  readonly how: 'prompt' | 'resume'
  readonly id: string | undefined
  readonly takeOver?: boolean | undefined
}

/** An outbox, what it asked for, and what it is answered: a code to fail with, or nothing. */
function createStage(answers: readonly (ErrorCode | undefined)[]): {
  readonly outbox: Outbox
  readonly asked: Asked[]
  readonly kept: Map<string, string>
  readonly open: () => Outbox
} {
  const left = [...answers]
  const asked: Asked[] = []
  const kept = new Map<string, string>()
  let minted = 0
  const answer = async (): Promise<void> => {
    const code = left.shift()
    if (code !== undefined) throw new ThroughlineError(code, `it said ${code}`, { hint: 'Do something.' })
  }
  const live: LiveCalls = {
    ...NO_LIVE,
    async prompt(_: string, { id }: PromptRequest) {
      asked.push({ how: 'prompt', id })
      await answer()
      return { id, state: 'queued' }
    },
    async resume(_: string, { prompt, takeOver }: ResumeRequest) {
      asked.push({ how: 'resume', id: prompt?.id, ...(takeOver === undefined ? {} : { takeOver }) })
      await answer()
      return BEGUN_VIEW
    },
  }
  const open = (): Outbox =>
    createOutbox({
      sessionId: 's',
      live,
      storage: {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, value) => void kept.set(key, value),
        removeItem: (key) => void kept.delete(key),
      },
      now: () => 0,
      mintId: () => `id ${minted++}`,
      sleep: () => Promise.resolve(),
    })
  return { outbox: open(), asked, kept, open }
}

const text = (words: string): readonly Block[] => [{ kind: 'text', text: words }]
const states = ({ prompts }: Outbox): readonly string[] => prompts.value.map(({ state }) => state)

test('[LWB2] a prompt is there at once, and is tried with the same id until somebody has it', async () => {
  const { outbox, asked, kept } = createStage(['daemon-unreachable', 'host-unreachable', 'session-pending'])
  const sent = outbox.send(text('hello'), { isOver: false })
  expect(states(outbox)).toEqual(['sending'])
  expect(kept.size).toBe(1)
  await sent
  expect(states(outbox)).toEqual(['sent'])
  expect(asked).toEqual(Array.from({ length: 4 }, () => ({ how: 'prompt', id: 'id 0' })))
  expect(kept.size).toBe(0)
})

test('[LWB10] a prompt to a session that is over goes on with it, also when it ended in that moment', async () => {
  const { outbox, asked } = createStage([])
  await outbox.send(text('go on'), { isOver: true })
  expect(asked).toEqual([{ how: 'resume', id: 'id 0' }])
  const other = createStage(['session-ended'])
  await other.outbox.send(text('go on'), { isOver: false })
  expect(other.asked).toEqual([
    { how: 'prompt', id: 'id 0' },
    { how: 'resume', id: 'id 0' },
  ])
  expect(states(other.outbox)).toEqual(['sent'])
})

test('[LWB10] a session that is held elsewhere is not taken by itself: the prompt waits for what the person says', async () => {
  const { outbox, asked } = createStage(['session-held'])
  await outbox.send(text('mine'), { isOver: true })
  expect(outbox.prompts.value).toMatchObject([
    {
      state: 'failed',
      error: { code: 'session-held', message: 'it said session-held', hint: 'Do something.' },
    },
  ])
  await outbox.again('id 0', { isOver: true, takeOver: true })
  expect(asked.at(-1)).toEqual({ how: 'resume', id: 'id 0', takeOver: true })
  expect(states(outbox)).toEqual(['sent'])
})

test('[LWB2] words that nobody acknowledged outlive the page, and are the same prompt when they are sent again', async () => {
  const { outbox, asked, open, kept } = createStage(['request-invalid'])
  await outbox.send(text('precious'), { isOver: false })
  const next = open()
  expect(next.prompts.value.map(({ blocks }) => textOf(blocks))).toEqual(['precious'])
  expect(states(next)).toEqual(['failed'])
  await next.again('id 0', { isOver: false })
  expect(asked.map(({ id }) => id)).toEqual(['id 0', 'id 0'])
  expect(kept.size).toBe(0)
  next.drop(() => true)
  expect(next.prompts.value).toEqual([])
})
