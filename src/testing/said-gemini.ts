import type { SaidPart, SaidShape } from './said.ts'

/** An answer as Gemini streams it, sends it whole, and is sent it back. Its calls have no ids here: most have none. */
export const SAID_IN_GEMINI: SaidShape = {
  api: 'gemini',
  path: '/v1beta/models/gemini-said:streamGenerateContent',
  toEvents: (said, cut) => [
    ...said.flatMap((part) => toParts(part, cut)).map((part) => ({ data: toChunk([part]) })),
    { data: { ...toChunk([{ text: '' }], 'STOP') } },
  ],
  toBody: (said) =>
    toChunk(
      said.flatMap((part) => toParts(part, (text) => [text])),
      'STOP',
    ),
  toRequest: (said) => ({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Begin.' }] },
      // As the chat of its SDK does: every piece is a content of its own.
      ...said
        .filter(({ kind }) => kind !== 'thinking')
        .flatMap((part) => toParts(part, (text) => [text]))
        .map((part) => ({ role: 'model', parts: [part] })),
    ],
  }),
}

function toChunk(parts: readonly object[], finish?: string): object {
  return {
    candidates: [
      {
        content: { role: 'model', parts },
        index: 0,
        ...(finish === undefined ? {} : { finishReason: finish }),
      },
    ],
    usageMetadata: {
      promptTokenCount: 1212,
      cachedContentTokenCount: 1000,
      candidatesTokenCount: 35,
      thoughtsTokenCount: 7,
      totalTokenCount: 1254,
    },
    modelVersion: 'gemini-said',
    responseId: 'said_1',
  }
}

function toParts(part: SaidPart, cut: (text: string) => readonly string[]): readonly object[] {
  if (part.kind === 'text') return cut(part.text).map((text) => ({ text }))
  if (part.kind === 'thinking') return cut(part.text).map((text) => ({ text, thought: true }))
  return [{ functionCall: { name: part.name, args: part.input }, thoughtSignature: part.id }]
}
