import { isObject, list, object, string, type JsonObject } from '#base'
import { isCall, objectsIn, textOf } from './content-blocks.ts'
import { createPartBlocks, fromFunctionResponse } from './gemini-parts.ts'
import { createMadeIds } from './made-ids.ts'
import type { RequestTurn } from './model-request.ts'
import type { SaidBefore } from './request-reader.ts'

/**
 * The turns of a request to Gemini. Its clients may send an answer back in as many pieces as it came: what a model
 * said in a row is one turn.
 */
export function readGeminiTurns(body: JsonObject): SaidBefore {
  const ids = createMadeIds([])
  const turns: RequestTurn[] = []
  let parts: JsonObject[] = []

  function closeModel(): void {
    if (parts.length === 0) return
    const collected = createPartBlocks(ids)
    for (const part of parts) collected.add(part)
    turns.push({ role: 'assistant', content: collected.blocks })
    parts = []
  }

  for (const content of contentsOf(body['contents'])) {
    if (string(content, 'role') === 'model') {
      parts.push(...objectsIn(content, 'parts'))
      continue
    }
    closeModel()
    const said = createPartBlocks(ids)
    const blocks: JsonObject[] = []
    const answered = new Set<string>()
    for (const part of objectsIn(content, 'parts')) {
      if (object(part, 'functionResponse')) blocks.push(toResult(part, turns, answered))
      else said.add(part)
    }
    if (blocks.length + said.blocks.length > 0)
      turns.push({ role: 'user', content: [...blocks, ...said.blocks] })
  }
  closeModel()
  const system = object(body, 'systemInstruction') ?? object(body, 'system_instruction')
  return { system: system ? textOf(list(system, 'parts'), '\n\n') : textOf(body['systemInstruction']), turns }
}

function contentsOf(contents: unknown): readonly JsonObject[] {
  if (typeof contents === 'string') return [{ role: 'user', parts: [{ text: contents }] }]
  if (isObject(contents)) return [contents]
  return Array.isArray(contents) ? contents.filter(isObject) : []
}

/** Pairs a result with its call: by its id, otherwise the next call of that name in the answer before. */
function toResult(part: JsonObject, turns: readonly RequestTurn[], answered: Set<string>): JsonObject {
  const answer = object(part, 'functionResponse')
  const given = string(answer, 'id')
  const calls = turns.findLast(({ role }) => role === 'assistant')?.content.filter(isCall) ?? []
  const ids = calls
    .filter((call) => string(call, 'name') === string(answer, 'name'))
    .map((call) => string(call, 'id') ?? '')
  const id = given || (ids.find((known) => !answered.has(known)) ?? '')
  answered.add(id)
  return fromFunctionResponse(part, id)
}
