import { object, string } from '#base'
import type { Answer } from './answer.ts'
import type { ModelRequest, RequestTurn } from './model-request.ts'

/** Clients of OpenAI may send the id of an item instead of the item: the provider knows it, and so does who listened. */
export interface ItemReferences {
  /** An answer whose items may be named from now on. */
  remember(answer: Answer): void
  /** A request with the items that it names, as far as they are known. */
  resolve(request: ModelRequest): ModelRequest
}

/** So many items are remembered; the oldest are forgotten first. */
const REMEMBERED = 2000

export function createItemReferences(limit: number = REMEMBERED): ItemReferences {
  const items = new Map<string, readonly object[]>()

  function resolveTurn(turn: RequestTurn): RequestTurn {
    if (!turn.content.some(isReference)) return turn
    const content = turn.content.flatMap((block) =>
      isReference(block) ? (items.get(string(block, 'id') ?? '') ?? [block]) : [block],
    )
    return { ...turn, content }
  }

  return {
    remember({ provider, message }) {
      if (provider !== 'openai' || typeof message.content === 'string') return
      const found = new Map<string, object[]>()
      for (const block of message.content) {
        const id = idOf(block)
        if (id !== undefined) found.set(id, [...(found.get(id) ?? []), block])
      }
      for (const [id, blocks] of found) items.set(id, blocks)
      for (const id of items.keys()) {
        if (items.size <= limit) break
        items.delete(id)
      }
    },
    resolve: (request) => ({ ...request, turns: request.turns.map(resolveTurn) }),
  }
}

function isReference(block: object): boolean {
  return string(block, 'type') === 'item_reference'
}

/** The id of the item that a block was made of; a call has another one, which is not that of its item. */
function idOf(block: object): string | undefined {
  return (
    string(object(block, 'openai'), 'id') ??
    (KNOWN.has(string(block, 'type') ?? '') ? undefined : string(block, 'id'))
  )
}

const KNOWN: ReadonlySet<string> = new Set(['text', 'thinking', 'tool_use', 'image', 'document'])
