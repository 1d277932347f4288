import * as fc from 'fast-check'
import { isObject, list, object, string, type JsonObject } from '#base'
import { TARGETS, type Entry } from '#model'
import {
  recordChatStream,
  recordGeminiStream,
  recordResponsesStream,
  type Recording,
  type StreamRecorder,
} from '#recorder'
import { restore, toAnthropic, toGemini, toOpenAIChat, toOpenAIResponses, toSaid } from '#restore'
import {
  anyChunks,
  anyConversation,
  anySaid,
  findAiSdkFaults,
  findAnthropicFaults,
  findChatFaults,
  findGeminiFaults,
  findResponsesFaults,
  inPieces,
  runs,
  SAID_IN_CHAT,
  SAID_IN_GEMINI,
  SAID_IN_RESPONSES,
  toEventBytes,
  type AnyMessage,
  type SaidPart,
  type SaidShape,
} from '#testing'
import { describe, expect, test } from 'vitest'
import { recordConversation as record } from './recorded-conversation.ts'

async function sayAll(recording: Recording, messages: readonly AnyMessage[]): Promise<void> {
  for (const { role, content } of messages) {
    if (role === 'user') await recording.user(content)
    else await recording.assistant({ content }, { provider: 'anthropic' })
  }
}

const asBlocks = ({ role, content }: AnyMessage): object => ({
  role,
  content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
})

/** Whoever made a block of a kind that nobody knows yet gets it back. */
const KEPT = /unknown (?:block|item) |an unknown part|a source of an unknown type/u

const strict = async (
  target: (typeof TARGETS)[number],
  messages: readonly object[],
): Promise<readonly string[]> => {
  const find = {
    anthropic: findAnthropicFaults,
    'openai-responses': findResponsesFaults,
    'openai-chat': findChatFaults,
    gemini: findGeminiFaults,
    'ai-sdk': findAiSdkFaults,
  }[target]
  return (await find(messages)).filter((fault) => !KEPT.test(fault))
}

describe('what was recorded, restored', () => {
  test.each(['lines', 'blobs'] as const)(
    '[E8.1] [E2.1] [E7.1] whatever was said to Anthropic comes back byte for byte, with large texts in %s',
    async (large) => {
      await fc.assert(
        fc.asyncProperty(anyConversation, async (messages) => {
          const entries = await record((recording) => sayAll(recording, messages), large)
          const restored = restore(entries, 'anthropic')
          expect(restored.losses).toEqual([])
          expect(JSON.stringify(restored.messages)).toBe(JSON.stringify(messages.map(asBlocks)))
          // Restoring is no event: done again, for anybody, it gives the same, and it is taken.
          expect(restore(entries, 'anthropic')).toEqual(restored)
          for (const target of TARGETS) {
            if (target !== 'anthropic')
              expect(await strict(target, restore(entries, target).messages)).toEqual([])
          }
        }),
        runs(15),
      )
    },
  )

  test('[E8.1] recorded again from what was restored, it restores to the same', async () => {
    await fc.assert(
      fc.asyncProperty(anyConversation, async (messages) => {
        const once = toAnthropic(toSaid(await record((recording) => sayAll(recording, messages))))
        const again = toAnthropic(toSaid(await record((recording) => sayAll(recording, once.messages))))
        expect(again).toEqual(once)
      }),
      runs(10),
    )
  })
})

describe('a session that changes its provider with every answer', () => {
  test('[E6.1] [P06] every provider takes it, and gets back only what is its own', async () => {
    const providers = fc.array(fc.constantFrom('anthropic', 'openai', 'gemini'), {
      minLength: 1,
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(anyConversation, providers, async (messages, by) => {
        const own: string[] = []
        const entries = await record(async (recording) => {
          for (const [at, { role, content }] of messages.entries()) {
            const provider = by[at % by.length]
            if (role === 'user') await recording.user(content)
            else await recording.assistant({ content }, { provider })
            if (role === 'assistant' && provider === 'anthropic') own.push(JSON.stringify(content))
          }
        })
        for (const target of TARGETS) {
          const { messages: made, losses } = restore(entries, target)
          if (made.length === 0) expect(losses).not.toEqual([])
          else expect(await strict(target, made)).toEqual([])
        }
        const restored = restore(entries, 'anthropic').messages.flatMap((message) => list(message, 'content'))
        const thoughts = restored.filter((block) => (string(block, 'type') ?? '').endsWith('thinking'))
        for (const thought of thoughts)
          expect(own.some((answer) => answer.includes(JSON.stringify(thought)))).toBe(true)
      }),
      runs(20),
    )
  })
})

/** Turns of a conversation with a model that streams: calls have ids that are there once, and are answered. */
const talk = fc.array(anySaid(), { minLength: 1, maxLength: 3 }).map((answers) =>
  answers.map((said, turn): readonly SaidPart[] => [
    ...said.map((part, at) =>
      part.kind === 'call'
        ? { ...part, id: `call_${String(turn)}_${String(at)}` }
        : part.kind === 'thinking'
          ? { ...part, signature: `s${part.signature}` }
          : part,
    ),
    // Reasoning that leads to nothing is not sent again.
    { kind: 'text', text: 'So.' },
  ]),
)

const asked = (turn: number): string => `Question ${String(turn)}`
const callsIn = (said: readonly SaidPart[]): readonly Extract<SaidPart, { kind: 'call' }>[] =>
  said.filter((part) => part.kind === 'call')

interface Talk {
  readonly shape: SaidShape
  readonly stream: StreamRecorder
  readonly answers: readonly (readonly SaidPart[])[]
  readonly cut: number
}

/** Records a conversation the way an agent does that hands its streams to the recorder. */
async function recordTalk(
  { shape, stream, answers, cut }: Talk,
  toResult: (call: Extract<SaidPart, { kind: 'call' }>, id: string) => JsonObject,
): Promise<readonly Entry[]> {
  return await record(async (recording) => {
    for (const [turn, said] of answers.entries()) {
      await recording.user(asked(turn))
      const bytes = toEventBytes(shape.toEvents(said, inPieces(5)))
      const chunks = fc.sample(anyChunks(bytes), { numRuns: 1, seed: cut })[0] ?? [bytes]
      const ids: string[] = []
      const { stream: passed, recorded } = stream(pieces(chunks), {
        assistant: async (message, facts) => {
          const { content } = message
          if (typeof content !== 'string')
            ids.push(
              ...content.flatMap((block) =>
                string(block, 'type') === 'tool_use' ? (string(block, 'id') ?? []) : [],
              ),
            )
          return await recording.assistant({ ...message, id: `answer_${String(turn)}` }, facts)
        },
      })
      for await (const _ of passed) continue
      await recorded
      const results = callsIn(said).map((call, at) => toResult(call, ids[at] ?? ''))
      if (results.length > 0) await recording.user(results)
    }
  })
}

async function* pieces(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

const plainResult = (_call: SaidPart, id: string): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: `gave ${id}`,
})

describe('what was streamed to the recorder, restored for the same provider', () => {
  test('[E8.1] [E2.1] [P08] items of OpenAI go back as they were, with their reasoning', async () => {
    await fc.assert(
      fc.asyncProperty(talk, fc.nat(), async (answers, cut) => {
        const shape = SAID_IN_RESPONSES
        const entries = await recordTalk({ shape, stream: recordResponsesStream, answers, cut }, plainResult)
        const { input, losses } = toOpenAIResponses(toSaid(entries))
        expect(losses).toEqual([])
        expect(input).toEqual(
          answers.flatMap((said, turn) => [
            { type: 'message', role: 'user', content: [{ type: 'input_text', text: asked(turn) }] },
            ...list(shape.toBody(said), 'output'),
            ...callsIn(said).map(({ id }) => ({
              type: 'function_call_output',
              call_id: id,
              output: `gave ${id}`,
            })),
          ]),
        )
        expect(findResponsesFaults(input)).toEqual([])
      }),
      runs(15),
    )
  })

  test('[E8.1] [E2.1] messages of Chat Completions go back as they were, without what was thought', async () => {
    await fc.assert(
      fc.asyncProperty(talk, fc.nat(), async (answers, cut) => {
        const shape = SAID_IN_CHAT
        const entries = await recordTalk({ shape, stream: recordChatStream, answers, cut }, plainResult)
        const { messages, losses } = toOpenAIChat(toSaid(entries))
        expect(losses.every(({ kind }) => kind === 'thinking')).toBe(true)
        expect(messages).toEqual(
          answers.flatMap((said, turn) => [
            { role: 'user', content: asked(turn) },
            object(
              list(shape.toBody(said.filter(({ kind }) => kind !== 'thinking')), 'choices')[0],
              'message',
            ),
            ...callsIn(said).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: `gave ${id}` })),
          ]),
        )
        expect(findChatFaults(messages)).toEqual([])
      }),
      runs(15),
    )
  })

  test('[E8.1] [E2.1] [P07] parts of Gemini go back as they were, signed and without ids that it never gave', async () => {
    await fc.assert(
      fc.asyncProperty(talk, fc.nat(), async (answers, cut) => {
        const shape = SAID_IN_GEMINI
        const entries = await recordTalk({ shape, stream: recordGeminiStream, answers, cut }, (call, id) => ({
          ...plainResult(call, id),
          content: `gave ${call.id}`,
          gemini: { name: call.name, field: 'output' },
        }))
        const { contents, losses } = toGemini(toSaid(entries))
        expect(losses).toEqual([])
        expect(contents).toEqual(
          answers.flatMap((said, turn) => {
            const [candidate] = list(shape.toBody(said), 'candidates')
            const results = callsIn(said).map(({ id, name }) => ({
              functionResponse: { name, response: { output: `gave ${id}` } },
            }))
            const next = turn + 1 < answers.length ? [{ text: asked(turn + 1) }] : []
            return [
              ...(turn === 0 ? [{ role: 'user', parts: [{ text: asked(0) }] }] : []),
              {
                role: 'model',
                parts: joined(list(object(candidate, 'content'), 'parts').filter(isObject)),
              },
              ...(results.length + next.length === 0 ? [] : [{ role: 'user', parts: [...results, ...next] }]),
            ]
          }),
        )
        expect(findGeminiFaults(contents)).toEqual([])
      }),
      runs(15),
    )
  })
})

/** Pieces of one text are one part. */
function joined(parts: readonly JsonObject[]): readonly JsonObject[] {
  const whole: JsonObject[] = []
  for (const part of parts) {
    const before = whole.at(-1)
    const isOne = [before, part].every(
      (each) => each !== undefined && 'text' in each && !('thoughtSignature' in each),
    )
    if (isOne && before?.['thought'] === part['thought'])
      whole[whole.length - 1] = {
        ...before,
        text: `${string(before, 'text') ?? ''}${string(part, 'text') ?? ''}`,
      }
    else whole.push(part)
  }
  return whole
}
