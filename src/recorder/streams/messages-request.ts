import { isObject, string, type JsonObject } from '#base'
import { objectsIn, textOf, toBlocks, without } from './content-blocks.ts'
import type { RequestTurn } from './model-request.ts'
import type { SaidBefore } from './request-reader.ts'

/** The turns of a request to Anthropic's Messages API. Marks for the cache are no part of what was said. */
export function readMessagesTurns(body: JsonObject): SaidBefore {
  const system = [textOf(body['system'], '\n\n')]
  const turns: RequestTurn[] = []
  for (const message of objectsIn(body, 'messages')) {
    const role = string(message, 'role')
    if (role === 'system') {
      const text = textOf(message['content'], '\n\n')
      system.push(text)
      const words = sentMeanwhile(text)
      if (words !== undefined) turns.push({ role: 'user', content: [{ type: 'text', text: words }] })
    } else
      turns.push({
        role: role === 'assistant' ? 'assistant' : 'user',
        content: toBlocks(message['content']).map(withoutMarks),
      })
  }
  return { system: system.filter((text) => text !== '').join('\n\n'), turns }
}

/** What a person wrote while Claude Code worked: it hands it on in its own words, and in the role of the system. */
function sentMeanwhile(text: string): string | undefined {
  return /^The user sent a new message while you were working:\n([^]*?)\n\n(?:This is how|IMPORTANT:)/u.exec(
    text,
  )?.[1]
}

function withoutMarks(block: JsonObject): JsonObject {
  const bare = 'cache_control' in block ? without(block, ['cache_control']) : block
  const { content } = bare
  if (string(bare, 'type') !== 'tool_result' || !Array.isArray(content)) return bare
  return {
    ...bare,
    content: content.map((inner: unknown) => (isObject(inner) ? withoutMarks(inner) : inner)),
  }
}
