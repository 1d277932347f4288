import type { ServerResponse } from 'node:http'
import { isObject, list, string, type JsonObject } from '#base'
import { toPieces } from '#drivers'
import type { SaidItem } from './model-api-responses.ts'
import type { ModelStep } from './model-api-stream.ts'
import { gone, sleep, type StreamFacts } from './model-api-wire.ts'

/**
 * Sends an answer as `streamGenerateContent` of the Gemini API does, or in one piece as `generateContent`. The tools of
 * the cues become those of Gemini CLI: `Bash` a shell command, `Write` a file. Any other goes as it is.
 */
export async function sendGemini(
  outgoing: ServerResponse,
  steps: readonly ModelStep[],
  facts: StreamFacts & { readonly whole: boolean },
): Promise<void> {
  const first = steps[0]
  if (first?.kind === 'error') return refuse(outgoing, first.status, first.message)
  if (facts.whole) return sendWhole(outgoing, steps, facts)
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  let words = 0
  let thoughts = 0
  let calls = 0

  const send = (value: object): void => {
    if (!outgoing.destroyed) outgoing.write(`data: ${JSON.stringify(value)}\r\n\r\n`)
  }
  const part = (value: object): void => {
    send({ ...toHead(facts), candidates: [{ index: 0, content: { role: 'model', parts: [value] } }] })
  }

  for (const step of steps) {
    if (outgoing.destroyed) return
    switch (step.kind) {
      case 'text':
        for (const text of toPieces(step.text)) {
          await sleep(step.everyMs ?? 0, outgoing)
          words += 1
          part({ text })
        }
        break
      case 'thinking':
        await sleep(step.everyMs ?? 0, outgoing)
        thoughts += toPieces(step.text).length
        part({ text: `**Thinking**\n${step.text}`, thought: true })
        break
      case 'tool':
        part({ functionCall: toCall(step, facts.number, calls++) })
        break
      case 'pause':
        await sleep(step.ms, outgoing)
        break
      case 'error':
        send({ error: toErrorBody(step.status, step.message) })
        outgoing.end()
        return
      case 'cut':
        part({ text: 'This breaks off in ' })
        await sleep(25, outgoing)
        outgoing.destroy()
        return
      case 'hang':
        await gone(outgoing)
        return
    }
  }
  send({
    ...toHead(facts),
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
    usageMetadata: toUsage(words, thoughts),
  })
  outgoing.end()
}

/** Whether a request is one for an answer of the Gemini API. */
export function isGemini(path: string): boolean {
  return /\/models\/[^/?]+:(?:streamG|g)enerateContent(?:\?|$)/u.test(path)
}

/** Whether the answer is to come in one piece. */
export function isWholeGemini(path: string): boolean {
  return path.includes(':generateContent')
}

/** The model that a request of the Gemini API names: it stands in the path. */
export function findGeminiModel(path: string): string | undefined {
  return /\/models\/([^/?:]+):/u.exec(path)?.[1]
}

/** Reads the conversation of a request of this API. */
export function readGemini(body: JsonObject): readonly SaidItem[] {
  return list(body, 'contents').map((content, index) => {
    const parts = list(content, 'parts').filter(isObject)
    const role = string(content, 'role')
    return {
      role: role === 'user' ? 'user' : role === 'model' ? 'assistant' : 'other',
      texts: parts.flatMap((part) => string(part, 'text') ?? []),
      callOf: parts.some((part) => isObject(part['functionCall'])) ? String(index) : undefined,
    }
  })
}

function sendWhole(outgoing: ServerResponse, steps: readonly ModelStep[], facts: StreamFacts): void {
  const parts = steps.flatMap((step) => (step.kind === 'text' ? [{ text: step.text }] : []))
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  outgoing.end(
    JSON.stringify({
      ...toHead(facts),
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: toUsage(parts.length, 0),
    }),
  )
}

function toHead(facts: StreamFacts): object {
  return { responseId: `scripted${String(facts.number)}`, modelVersion: facts.model }
}

function toCall(step: ModelStep & { kind: 'tool' }, number: number, index: number): object {
  const id = step.id ?? `call_scripted${String(number)}x${String(index)}`
  const command = string(step.input, 'command')
  const path = string(step.input, 'file_path')
  if (step.name === 'Bash' && command !== undefined)
    return { id, name: 'run_shell_command', args: { command, description: 'The script says so.' } }
  if (step.name === 'Write' && path !== undefined)
    return { id, name: 'write_file', args: { file_path: path, content: string(step.input, 'content') ?? '' } }
  return { id, name: step.name, args: isObject(step.input) ? step.input : {} }
}

function refuse(outgoing: ServerResponse, status: number, message: string | undefined): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' })
  outgoing.end(JSON.stringify({ error: toErrorBody(status, message) }))
}

function toErrorBody(status: number, message: string | undefined): object {
  const name = status === 429 ? 'RESOURCE_EXHAUSTED' : status === 400 ? 'INVALID_ARGUMENT' : 'INTERNAL'
  return { code: status, message: message ?? `a scripted ${String(status)}`, status: name }
}

function toUsage(words: number, thoughts: number): object {
  return {
    promptTokenCount: 1212,
    cachedContentTokenCount: 1000,
    candidatesTokenCount: words + 1,
    thoughtsTokenCount: thoughts,
    totalTokenCount: 1213 + words + thoughts,
  }
}
