import type { Random } from './corpus-random.ts'
import type { Texts } from './corpus-text.ts'
import type { Fields, Transcript } from './corpus-transcript.ts'

/** The heavy parts every full transcript repeats; made once a corpus, as they are the same in all sessions. */
export interface Ballast {
  readonly systemPrompt: readonly string[]
  readonly tools: readonly Fields[]
  readonly shapeHash: string
  readonly skills: string
  readonly skillNames: readonly string[]
  readonly agentLines: readonly string[]
}

const TOOL_NAMES = [
  'Agent',
  'AskUserQuestion',
  'Bash',
  'Edit',
  'EnterWorktree',
  'Glob',
  'Grep',
  'Read',
  'Write',
] as const

export function createBallast(random: Random, texts: Texts): Ballast {
  const skillNames = Array.from(
    { length: 13 },
    () => `${random.pick(['code', 'data', 'test', 'doc'])}-${random.token(5)}`,
  )
  return {
    systemPrompt: Array.from({ length: 8 }, () => texts.prose(random, random.int(400, 1_900))),
    tools: TOOL_NAMES.map((name) => ({
      name,
      description: texts.prose(random, random.int(900, 3_000)),
      input_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: random.int(2, 6) }, () => [
            random.token(8),
            { description: texts.prose(random, random.int(40, 300)), type: 'string' },
          ]),
        ),
        required: ['description'],
        additionalProperties: false,
      },
    })),
    shapeHash: random.hex(64),
    skills: skillNames.map((name) => `- ${name}: ${texts.prose(random, 420)}`).join('\n'),
    skillNames,
    agentLines: ['claude', 'Explore', 'general-purpose', 'Plan'].map(
      (name) => `- ${name}: ${texts.prose(random, 350)}`,
    ),
  }
}

export function shapeLine(t: Transcript, ballast: Ballast): void {
  t.side('api-request-shape', {
    type: 'api-request-shape',
    sessionId: t.o.sessionId,
    ...agent(t),
    shapeHash: ballast.shapeHash,
    timestamp: t.timestamp(),
    version: t.version,
    shape: {
      system: ballast.systemPrompt.map((text) => ({ type: 'text', text })),
      tools: ballast.tools,
    },
  })
}

export function blobLine(t: Transcript, role: 'user' | 'assistant', content: unknown): void {
  t.side('api-request-blob', {
    type: 'api-request-blob',
    sessionId: t.o.sessionId,
    ...agent(t),
    hash: t.random.hex(64),
    message: { role, content },
  })
}

/** Returns the id that the assistant lines of the answer carry as `requestRef`. */
export function requestLine(t: Transcript, ballast: Ballast): string {
  const id = t.random.uuid()
  t.side('api-request', {
    type: 'api-request',
    sessionId: t.o.sessionId,
    ...agent(t),
    id,
    timestamp: t.timestamp(),
    version: t.version,
    querySource: t.o.agentId === undefined ? 'repl_main_thread' : 'agent:builtin:general-purpose',
    shapeHash: ballast.shapeHash,
    params: {
      model: t.o.model,
      betas: [
        'claude-code-20250219',
        'interleaved-thinking-2025-05-14',
        'context-management-2025-06-27',
        'per-turn-control-2026-07-01',
        'mid-conversation-tool-changes-2026-07-01',
        'thinking-token-count-2026-05-13',
      ],
      max_tokens: 128_000,
      thinking: { type: 'adaptive', display: 'updates' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      output_config: { effort: 'medium' },
    },
    keep: t.turn,
    tail: [t.random.hex(64), t.random.hex(64)],
    cacheControl: [
      { path: ['system', 0], value: { type: 'ephemeral' } },
      { path: ['system', 1], value: { type: 'ephemeral' } },
      { path: ['messages', 1, 'content', 0], value: { type: 'ephemeral' } },
    ],
    requestDigest: t.random.hex(64),
  })
  return id
}

function agent(t: Transcript): Fields {
  return t.o.agentId === undefined ? {} : { agentId: t.o.agentId }
}
