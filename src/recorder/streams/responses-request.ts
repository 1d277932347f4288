import { isObject, string, type JsonObject } from '#base'
import { textOf } from './content-blocks.ts'
import type { RequestTurn } from './model-request.ts'
import { fromItem, fromOutputItem, isOutputItem } from './openai-items.ts'
import type { SaidBefore } from './request-reader.ts'

/**
 * The turns of a request to OpenAI's Responses API. Everything that a model gave in a row is one turn, and so is what
 * its calls gave; each message of a person is its own. What a developer says is said by the system.
 */
export function readResponsesTurns(body: JsonObject): SaidBefore {
  const system = [textOf(body['instructions'])]
  const turns: RequestTurn[] = []
  let last: Side | undefined

  function add(side: Side, blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return
    const before = turns.at(-1)
    const role = side === 'model' ? 'assistant' : 'user'
    if (before && side === last && side !== 'person')
      turns[turns.length - 1] = { role, content: [...before.content, ...blocks] }
    else turns.push({ role, content: blocks })
    last = side
  }

  for (const item of itemsOf(body['input'])) {
    const role = string(item, 'role')
    if (role === 'system' || role === 'developer') system.push(textOf(item['content'], '\n\n'))
    else if (isOutputItem(item)) add('tools', [fromOutputItem(item)])
    else if (!DECLARATIONS.has(string(item, 'type') ?? '')) add(sideOf(item, role), fromItem(item))
  }
  return { system: system.filter((text) => text !== '').join('\n\n'), turns }
}

type Side = 'model' | 'tools' | 'person'

/** Items that nobody said: what the client has, and what it wants done. */
const DECLARATIONS: ReadonlySet<string> = new Set(['additional_tools', 'compaction_trigger'])

function itemsOf(input: unknown): readonly JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input.filter(isObject) : []
}

function sideOf(item: JsonObject, role: string | undefined): Side {
  if (role === 'user') return 'person'
  return (string(item, 'type') ?? '').endsWith('_response') ? 'person' : 'model'
}
