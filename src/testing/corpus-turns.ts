import {
  autoModeAttachment,
  contextAttachments,
  environmentAttachment,
  hookAttachments,
  hookDecisionAttachment,
  listingAttachments,
  mcpAttachment,
  modelAttachment,
  queuedAttachment,
  snapshotAttachment,
  tokensAttachment,
} from './corpus-attachments.ts'
import type { NeedlePlace } from './corpus-facts.ts'
import { promptLine, replyLines, systemLine, toolResultLine, userLine } from './corpus-messages.ts'
import { blobLine, requestLine, shapeLine } from './corpus-requests.ts'
import type { Ballast } from './corpus-requests.ts'
import {
  costLine,
  fileSnapshotLine,
  queueLines,
  queueRemoveLine,
  stateLines,
  toolsUsedLine,
} from './corpus-side-lines.ts'
import { subagentCall } from './corpus-subagents.ts'
import type { SubagentPlace } from './corpus-subagents.ts'
import { bashCall, imageData, imageReadCall, runCalls, toolCall } from './corpus-tools.ts'
import type { ToolCall } from './corpus-tools.ts'
import type { Fields, Transcript } from './corpus-transcript.ts'

/** What a session has beside its transcript. */
export interface Scene {
  readonly ballast: Ballast
  readonly at: SubagentPlace
  /** The turn ends early when the file has grown this far. */
  readonly limit: number
  readonly hooks: boolean
}

export interface TurnPlan {
  readonly needle?: NeedlePlace
  readonly image?: 'prompt' | 'tool'
  readonly midTurn?: 'queued prompt' | 'denied tool' | 'subagent' | 'background subagent' | 'big output'
  /** Called between the prompt and its answer: auto compaction happens there. */
  readonly afterPrompt?: () => void
}

/** A prompt and everything until the agent is idle again. */
export function writeTurn(t: Transcript, scene: Scene, plan: TurnPlan = {}): void {
  t.pass(t.random.int(2_000, 400_000))
  const first = t.turn === 0
  askLines(t, plan)
  if (first) openingLines(t, scene)
  plan.afterPrompt?.()
  const steps = Math.min(14, Math.ceil(t.random.logNormal(3, 0.8)))
  for (let step = 0; step < steps; step++) {
    stepLines(t, scene, step === 0 ? plan : {})
    if (first && step === 0 && t.o.era === 'full') snapshotAttachment(t, scene.ballast, 'with tools')
    if (t.bytes > scene.limit) break
  }
  answerLines(t, scene, plan)
  closingLines(t, scene)
}

function askLines(t: Transcript, plan: TurnPlan): void {
  const needle = plan.needle === 'prompt' || plan.needle === 'cjk' ? ` ${t.needle(plan.needle)}` : ''
  const rich = plan.needle === 'cjk' || t.random.chance(0.07)
  const text = `${t.texts[rich ? 'rich' : 'prose'](t.random, Math.min(20_000, t.random.logNormal(160, 1.1)))}${needle}`
  t.lastPrompt = text
  if (t.o.entrypoint === 'cli') fileSnapshotLine(t, t.coming(), t.random.chance(0.3) ? ['src/main.ts'] : [])
  else queueLines(t, text)
  promptLine(t, askContent(t, plan, text))
}

function askContent(t: Transcript, plan: TurnPlan, text: string): string | readonly Fields[] {
  if (plan.image === 'prompt') {
    const source = { type: 'base64', media_type: 'image/png', data: imageData(t, t.o.imageChars) }
    return [
      { type: 'text', text },
      { type: 'image', source },
    ]
  }
  return t.o.entrypoint === 'sdk-ts' ? [{ type: 'text', text }] : text
}

function openingLines(t: Transcript, { ballast, hooks }: Scene): void {
  if (t.o.era === 'lean') return
  environmentAttachment(t)
  modelAttachment(t)
  listingAttachments(t, ballast)
  if (t.random.chance(0.1) || hooks) mcpAttachment(t)
  if (t.random.chance(0.05) || hooks) autoModeAttachment(t)
  stateLines(t, 'mid-turn')
  contextAttachments(t)
  snapshotAttachment(t, ballast, 'without tools')
  shapeLine(t, ballast)
  blobLine(t, 'user', [{ type: 'text', text: t.lastPrompt }])
  blobLine(t, 'user', [{ type: 'text', text: ballast.skills }])
}

/** One API message with tool calls, and what the tools gave back. */
function stepLines(t: Transcript, scene: Scene, plan: TurnPlan): void {
  const blocks: Fields[] = []
  if (plan.needle === 'thinking' || t.random.chance(0.45)) blocks.push(thinkingBlock(t, plan))
  if (t.random.chance(0.6))
    blocks.push({ type: 'text', text: t.texts.prose(t.random, t.random.logNormal(180, 0.8)) })
  const calls = callsOf(t, scene, plan)
  const uses = replyLines(t, {
    blocks: [...blocks, ...calls.map((made) => made.block)],
    stop: 'tool_use',
    parallel: calls.length > 1,
    ...requestRef(t, scene),
  }).slice(blocks.length)

  const [only] = calls
  const [use] = uses
  if (plan.midTurn === 'denied tool' && only !== undefined && use !== undefined) {
    denyCall(t, only, use)
    return
  }
  if (scene.hooks && only !== undefined && calls.length === 1) hookDecisionAttachment(t, only.id)
  runCalls(t, calls, uses)
  if (scene.hooks && t.random.chance(0.5)) hookAttachments(t, 'PostToolUse')
  if (plan.midTurn === 'queued prompt') queuedPrompt(t)
  if (t.o.era === 'full' && t.random.chance(0.02)) tokensAttachment(t)
  if (t.random.chance(0.25)) stateLines(t, 'mid-turn')
}

function requestRef(t: Transcript, { ballast }: Scene): { readonly requestRef?: string } {
  if (t.o.era === 'lean') return {}
  if (t.random.chance(0.3))
    blobLine(t, 'user', [{ type: 'text', text: t.texts.output(t.random, t.random.logNormal(1_500, 1)) }])
  return { requestRef: requestLine(t, ballast) }
}

function thinkingBlock(t: Transcript, plan: TurnPlan): Fields {
  const needle = plan.needle === 'thinking' ? ` ${t.needle('thinking')}` : ''
  return {
    type: 'thinking',
    thinking: `${t.texts.prose(t.random, t.random.logNormal(400, 0.9))}${needle}`,
    signature: t.texts.base64(t.random, t.random.int(200, 900)),
  }
}

function callsOf(t: Transcript, scene: Scene, plan: TurnPlan): readonly ToolCall[] {
  const outputs = `${scene.at.dir}/tool-results`
  if (plan.image === 'tool') return [imageReadCall(t)]
  if (plan.midTurn === 'big output') return [bashCall(t, outputs, t.random.int(40_000, 300_000))]
  if (plan.midTurn === 'subagent' || plan.midTurn === 'background subagent') {
    const mode = plan.midTurn === 'subagent' ? 'foreground' : 'background'
    const sub = { mode, steps: t.random.int(1, 6), depth: 1, needle: plan.needle === 'subagent' } as const
    return [subagentCall(t, scene.at, scene.ballast, sub).call]
  }
  if (plan.needle === 'tool-input' || plan.needle === 'tool-output')
    return [needleCall(t, outputs, plan.needle)]
  const count = plan.midTurn === undefined && t.random.chance(0.22) ? t.random.int(2, 4) : 1
  return Array.from({ length: count }, () => toolCall(t, outputs))
}

function needleCall(t: Transcript, outputs: string, where: 'tool-input' | 'tool-output'): ToolCall {
  const made = bashCall(t, outputs, 2_000)
  const text = t.needle(where)
  if (where === 'tool-input')
    return { ...made, block: { ...made.block, input: { command: `echo ${text} | wc -c` } } }
  const stdout = `${t.texts.output(t.random, 4_000)}\n${text}\n${t.texts.output(t.random, 2_000)}`
  return {
    ...made,
    result: () => ({
      content: stdout,
      result: { stdout, stderr: '', interrupted: false, isImage: false },
      isError: false,
    }),
  }
}

function denyCall(t: Transcript, made: ToolCall, use: string): void {
  toolsUsedLine(t, made.name)
  const content =
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file)."
  const result = { toolUseId: made.id, toolUseLine: use, content, result: `Error: ${content}`, isError: true }
  toolResultLine(t, { ...result, denied: 'user-rejected' })
  userLine(t, 'interrupt-marker', [{ type: 'text', text: '[Request interrupted by user for tool use]' }])
}

function queuedPrompt(t: Transcript): void {
  const prompt = `MIDTURN ${t.texts.prose(t.random, 120)}`
  const source = t.random.uuid()
  const delivery = t.random.uuid()
  queuedAttachment(t, prompt, source, delivery)
  queueRemoveLine(t, prompt, source, delivery)
}

function answerLines(t: Transcript, scene: Scene, plan: TurnPlan): void {
  const needle = plan.needle === 'reply' ? ` ${t.needle('reply')}` : ''
  const form = t.random.chance(0.08) ? 'rich' : 'prose'
  const text = `${t.texts[form](t.random, t.random.logNormal(700, 0.9))}${needle}`
  const code = `\`\`\`ts\n${t.texts.code(t.random, 400)}\n\`\`\``
  replyLines(t, {
    blocks: [{ type: 'text', text: t.random.chance(0.3) ? `${text}\n\n${code}` : text }],
    stop: t.random.chance(0.01) ? 'max_tokens' : 'end_turn',
    ...requestRef(t, scene),
  })
}

/** The turn is over: summaries of hooks and time, then the state of the session. */
export function closingLines(t: Transcript, scene: Scene): void {
  if (scene.hooks) {
    systemLine(t, 'stop_hook_summary', {
      hookCount: 1,
      hookInfos: [{ command: 'node hook-logger.mjs settings', durationMs: t.random.int(3, 200) }],
      hookErrors: [],
      hookAdditionalContext: [],
      preventedContinuation: false,
      stopReason: '',
      hasOutput: false,
      level: 'suggestion',
      toolUseID: t.random.uuid(),
    })
  }
  if (t.o.entrypoint === 'cli') {
    systemLine(t, 'turn_duration', {
      durationMs: t.random.int(300, 200_000),
      messageCount: t.path.length,
      isMeta: false,
    })
  }
  t.turnEnds.push(t.path.length)
  stateLines(t, 'idle')
  costLine(t)
}
