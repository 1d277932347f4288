import type { Tokens } from './corpus-facts.ts'
import type { Fields, Transcript } from './corpus-transcript.ts'

/** Lines of what was said: by a person, by the model, and by Claude Code in their names. */

export function promptLine(t: Transcript, content: string | readonly Fields[], extra: Fields = {}): string {
  t.promptId = t.random.uuid()
  t.turn += 1
  const typed = t.o.entrypoint === 'cli'
  const sidechain = t.o.agentId !== undefined
  const image = typeof content !== 'string' && content.some((block) => block['type'] === 'image')
  const form = image ? 'prompt+image' : typeof content === 'string' ? 'prompt-string' : 'prompt-blocks'
  return t.chain(`user/${form}${sidechain ? ' (sidechain)' : ''}`, {
    head: { promptId: t.promptId, type: 'user', message: { role: 'user', content } },
    tail: sidechain
      ? {}
      : {
          ...(image ? { imagePasteIds: [1] } : {}),
          permissionMode: 'default',
          ...(typed ? { origin: { kind: 'human' } } : {}),
          promptSource: typed ? 'typed' : 'sdk',
          turnOrigin: typed ? 'human' : 'sdk',
          turnPosition: { promptIndex: t.turn - 1, turnIndex: t.turn },
          ...extra,
        },
    step: { role: 'message' },
  })
}

/** `user` lines that are not prompts. */
export function userLine(t: Transcript, kind: string, content: unknown, tail: Fields = {}): string {
  return t.chain(`user/${kind}`, {
    head: { promptId: t.promptId, type: 'user', message: { role: 'user', content }, ...tail },
    step: { role: tail['isMeta'] === true ? 'hidden' : 'message' },
  })
}

export interface Reply {
  readonly blocks: readonly Fields[]
  readonly stop: 'end_turn' | 'tool_use' | 'max_tokens' | null
  readonly requestRef?: string
  /** The tool calls of this reply run side by side. */
  readonly parallel?: boolean
}

/** One line a block, all with the id and the usage of the one API message. Returns the uuids of the lines. */
export function replyLines(t: Transcript, reply: Reply): readonly string[] {
  const sidechain = t.o.agentId !== undefined
  const tokens = tokensOf(t, reply)
  t.spend(tokens)
  const ids = { message: `msg_01${t.random.token(18)}`, request: `req_${t.random.token(16)}` }
  // Lean transcripts wrote a line while the stream was running: only the last one has the final count.
  const early = t.o.era === 'lean' && t.random.chance(0.4)
  return reply.blocks.map((block, index) => {
    const last = index === reply.blocks.length - 1
    const kind = String(block['type'])
    return t.chain(`assistant/${kind}${sidechain && kind !== 'thinking' ? ' (sidechain)' : ''}`, {
      head: {
        message: {
          id: ids.message,
          type: 'message',
          role: 'assistant',
          model: t.o.model,
          content: [block],
          stop_reason: early && !last ? null : reply.stop,
          stop_sequence: null,
          usage: usageFields(
            early && !last ? { ...tokens, output: Math.min(tokens.output, 1 + index) } : tokens,
          ),
          stop_details: null,
        },
        ...(kind === 'thinking'
          ? { thinkingDurationMs: t.random.int(1, 9_000), thinkingDisplay: 'updates' }
          : {}),
        ...(kind === 'tool_use' ? { toolInputStreamMs: t.random.int(1, 400) } : {}),
        apiBlockIndex: index,
        requestId: ids.request,
        ...(reply.requestRef === undefined ? {} : { requestRef: reply.requestRef }),
        requestedModel: t.o.model,
        promptCacheRequested: '5m',
        ...(sidechain ? { attributionAgent: 'general-purpose' } : {}),
        type: 'assistant',
      },
      tail: { effort: 'medium', perTurnEffort: 'medium', madeBy: 'model' },
      step: {
        role: 'message',
        continues: index > 0,
        ...(kind === 'tool_use' ? { tool: reply.parallel === true ? 'parallel' : 'use' } : {}),
      },
    })
  })
}

function tokensOf(t: Transcript, reply: Reply): Tokens {
  const chars = reply.blocks.reduce((sum, block) => sum + JSON.stringify(block).length, 0)
  const output = reply.stop === null ? 1 : Math.ceil(chars / 4)
  const cacheRead = t.contextTokens
  const cacheCreation = t.random.int(60, 4_000)
  t.contextTokens = Math.min(190_000, cacheRead + cacheCreation + output)
  return { input: t.random.int(2, 40), output, cacheCreation, cacheRead }
}

export function usageFields(tokens: Tokens): Fields {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: tokens.cacheCreation,
    cache_read_input_tokens: tokens.cacheRead,
    output_tokens: tokens.output,
    output_tokens_details: { thinking_tokens: 0 },
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: 'standard',
    cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: tokens.cacheCreation },
    inference_geo: 'not_available',
    iterations: [],
    speed: 'standard',
    fallback_credit: null,
  }
}

export interface ToolResult {
  readonly toolUseId: string
  readonly toolUseLine: string
  readonly content: unknown
  readonly result: unknown
  readonly isError?: boolean
  /** Not the last result of a parallel batch: nothing will hang from it. */
  readonly beside?: boolean
  readonly denied?: 'user-rejected' | 'permission-rule' | 'interrupted'
}

export function toolResultLine(t: Transcript, result: ToolResult): string {
  const sidechain = t.o.agentId !== undefined
  const { toolUseId, toolUseLine, content, isError, denied } = result
  const block = {
    tool_use_id: toolUseId,
    type: 'tool_result',
    content,
    ...(isError === undefined ? {} : { is_error: isError }),
  }
  return t.chain(`user/tool_result${sidechain ? ' (sidechain)' : ''}`, {
    parent: toolUseLine,
    head: { promptId: t.promptId, type: 'user', message: { role: 'user', content: [block] } },
    tail: {
      // Subagents keep no second copy of the output.
      ...(sidechain ? {} : { toolUseResult: result.result }),
      sourceToolAssistantUUID: toolUseLine,
      ...(denied === undefined ? {} : { toolDenialKind: denied }),
      permissionDecision:
        denied === undefined
          ? { decision: 'accept', source: 'config', reasonType: 'rule', ruleSource: 'cliArg' }
          : { decision: 'reject', source: 'user_reject' },
    },
    step: result.beside === true ? 'beside' : { role: 'message', tool: 'result' },
  })
}

/** What Claude Code says in the model's name: an API error, or "No response requested." after a crash. */
export function syntheticLine(t: Transcript, text: string, error?: Fields): string {
  return t.chain(error === undefined ? 'assistant/synthetic' : 'assistant/api-error(synthetic)', {
    head: {
      type: 'assistant',
      message: {
        diagnostics: null,
        id: t.random.uuid(),
        container: null,
        model: '<synthetic>',
        role: 'assistant',
        stop_details: null,
        stop_reason: 'stop_sequence',
        stop_sequence: '',
        type: 'message',
        usage: { ...usageFields(NOTHING), service_tier: null, iterations: null },
        content: [{ type: 'text', text }],
        context_management: null,
      },
      ...error,
      isApiErrorMessage: error !== undefined,
    },
    tail: { madeBy: error === undefined ? 'other' : 'model' },
    step: { role: 'message' },
  })
}

const NOTHING: Tokens = { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 }

export function systemLine(t: Transcript, subtype: string, fields: Fields): string {
  return t.chain(`system/${subtype}`, { head: { type: 'system', subtype, ...fields } })
}
