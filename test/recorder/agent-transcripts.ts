import { field, list, object, parseJson, string, type JsonObject } from '#base'

/** What was said in a transcript, one thing after the other, in words that can be compared. */
export type Said = readonly [role: string, kind: string, ...words: unknown[]]

/** What a recording says, on the way to its last line. */
export function saidInRecording(lines: readonly JsonObject[]): readonly Said[] {
  const byId = new Map(lines.map((line) => [string(line, 'uuid') ?? '', line]))
  const path: JsonObject[] = []
  for (let line = lines.at(-1); line !== undefined; line = byId.get(string(line, 'parentUuid') ?? ''))
    path.unshift(line)
  return path.flatMap((line) => saidInMessage(line['message']))
}

/** What Claude Code wrote itself, with its own words around it left out. */
export function saidInClaude(text: string): readonly Said[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(parseJson)
    .filter((line) => ['user', 'assistant'].includes(string(line, 'type') ?? ''))
    .flatMap((line) => saidInMessage(field(line, 'message')))
}

function saidInMessage(message: unknown): readonly Said[] {
  const role = string(message, 'role') ?? ''
  const text = string(message, 'content')
  const blocks = text === undefined ? list(message, 'content') : [{ type: 'text', text }]
  return blocks.flatMap((block): readonly Said[] => {
    const type = string(block, 'type') ?? ''
    switch (type) {
      case 'text': {
        const words = withoutReminders(string(block, 'text') ?? '')
        return words === '' ? [] : [[role, type, words]]
      }
      case 'thinking':
        return [[role, type, string(block, 'thinking'), string(block, 'signature')]]
      case 'tool_use':
        return [[role, type, string(block, 'id'), string(block, 'name'), field(block, 'input')]]
      case 'tool_result':
        return [
          [
            role,
            type,
            string(block, 'tool_use_id'),
            wordsOf(field(block, 'content')),
            field(block, 'is_error') === true,
          ],
        ]
      default:
        return [[role, type]]
    }
  })
}

/** What Codex wrote itself: the items of its rollout. */
export function saidInCodex(text: string): readonly Said[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(parseJson)
    .filter((line) => string(line, 'type') === 'response_item')
    .map((line) => object(line, 'payload'))
    .flatMap((item): readonly Said[] => {
      switch (string(item, 'type')) {
        case 'message': {
          const role = string(item, 'role') ?? ''
          if (role !== 'user' && role !== 'assistant') return []
          return list(item, 'content').map((part) => [role, 'text', string(part, 'text')])
        }
        case 'reasoning':
          return [
            [
              'assistant',
              'thinking',
              list(item, 'summary')
                .map((part) => string(part, 'text'))
                .join('\n\n'),
              undefined,
            ],
          ]
        case 'function_call':
          return [
            [
              'assistant',
              'tool_use',
              string(item, 'call_id'),
              string(item, 'name'),
              parseJson(string(item, 'arguments') ?? ''),
            ],
          ]
        case 'function_call_output':
          return [['user', 'tool_result', string(item, 'call_id'), wordsOf(field(item, 'output')), false]]
        default:
          return []
      }
    })
}

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list({ content }, 'content')
    .map((block) => string(block, 'text') ?? '')
    .join('\n')
}

/** What nobody said, in the words of Claude Code: its own transcript has less of it than the model is told. */
function withoutReminders(text: string): string {
  return text.replaceAll(/<(system-reminder|task-notification)>[^]*?<\/\1>/gu, '').trim()
}

/** What each message cost, by its id: the last word on it. */
export function usageOf(lines: readonly unknown[]): Readonly<Record<string, unknown>> {
  const usage: Record<string, unknown> = {}
  for (const line of lines) {
    const message = field(line, 'message')
    const id = string(message, 'id')
    const found = object(message, 'usage')
    if (string(line, 'type') !== 'assistant' || id === undefined || found === undefined) continue
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = found
    usage[id] = [input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens]
  }
  return usage
}
