import { string } from '#base'
import {
  toolFamily,
  type Block,
  type Message,
  type ReplyMessage,
  type SessionSummary,
  type ToolCall,
} from '#model'
import { toPlural } from '#render'
import type { IconName } from '../icon.tsx'

/** A reply in the order it was written: blocks, and calls that followed each other without a word between. */
export type ReplyPart =
  | { readonly kind: 'block'; readonly block: Exclude<Block, { kind: 'tool-use' }> }
  | { readonly kind: 'calls'; readonly calls: readonly ToolCall[] }

/** Every block that says something is in exactly one part. */
export function toReplyParts(reply: ReplyMessage): readonly ReplyPart[] {
  const calls = new Map(reply.calls.map((call) => [call.use.id, call]))
  const out: (ReplyPart | { readonly kind: 'calls'; readonly calls: ToolCall[] })[] = []
  let open: ToolCall[] | undefined
  for (const block of reply.blocks) {
    if (block.kind === 'tool-use') {
      if (open === undefined) {
        open = []
        out.push({ kind: 'calls', calls: open })
      }
      open.push(calls.get(block.id) ?? { use: block, state: 'pending' })
    } else if (!isBlank(block)) {
      open = undefined
      out.push({ kind: 'block', block })
    }
  }
  return out
}

/** Whether a reply says something, as opposed to only doing it. */
export function hasWords(reply: ReplyMessage): boolean {
  return reply.blocks.some((block) => block.kind === 'text' && block.text.trim() !== '')
}

/** Clients write empty texts and thoughts whose words were kept from them. */
function isBlank(block: Block): boolean {
  if (block.kind === 'text') return block.text.trim() === ''
  return block.kind === 'thinking' && block.thinking.trim() === ''
}

/** `12 tool calls: Read 8, Bash 3, Edit`. */
export function describeCalls(calls: readonly ToolCall[]): {
  readonly count: string
  readonly tools: string
} {
  const counts = new Map<string, number>()
  for (const { use } of calls) counts.set(use.name, (counts.get(use.name) ?? 0) + 1)
  const byNumber = [...counts].toSorted((a, b) => b[1] - a[1])
  const named = byNumber.slice(0, 4).map(([name, n]) => (n === 1 ? name : `${name} × ${n}`))
  const more = byNumber.length > 4 ? ['…'] : []
  return { count: toPlural(calls.length, 'tool call'), tools: [...named, ...more].join(', ') }
}

const FAMILIES: Readonly<Record<string, IconName>> = {
  Bash: 'terminal',
  BashOutput: 'terminal',
  KillShell: 'terminal',
  Read: 'eye',
  NotebookRead: 'eye',
  LS: 'folder',
  Edit: 'pencil',
  MultiEdit: 'pencil',
  Write: 'pencil',
  Patch: 'pencil',
  NotebookEdit: 'pencil',
  Grep: 'search',
  Glob: 'search',
  ToolSearch: 'search',
  WebFetch: 'globe',
  WebSearch: 'globe',
  Agent: 'branch',
  Task: 'branch',
  TodoWrite: 'check',
  TaskCreate: 'check',
  TaskUpdate: 'check',
  ExitPlanMode: 'check',
  AskUserQuestion: 'person',
  Skill: 'spark',
  SlashCommand: 'spark',
}

/** The picture of a tool's family. Tools of servers have one of their own, and unknown ones another. */
export function toToolIcon(name: string): IconName {
  const family = toolFamily(name)
  if (Object.hasOwn(FAMILIES, family)) return FAMILIES[family] ?? 'more'
  return name.startsWith('mcp__') ? 'link' : 'more'
}

/** A subagent as a call names it. */
export interface StartedSubagent {
  /** Its own file is asked for by this. */
  readonly id: string
  /** What it said and did, where it has no file of its own. */
  readonly work?: readonly Message[]
  readonly type: string
  readonly description: string
}

/** The subagent a call started, by what the session knows of it or else by what the call's answer says. */
export function findStarted(session: SessionSummary, call: ToolCall): StartedSubagent | undefined {
  const started = call.result?.startedAgentId
  const known =
    session.subagents.find(({ id }) => id === started) ??
    session.subagents.find(({ toolUseId }) => toolUseId === call.use.id)
  const work = known === undefined ? call.work : undefined
  const id = known?.id ?? started ?? (work === undefined ? undefined : call.use.id)
  if (id === undefined) return undefined
  return {
    id,
    ...(work === undefined ? {} : { work }),
    type: known?.agentType ?? string(call.use.input, 'subagent_type') ?? '',
    description: known?.description ?? string(call.use.input, 'description') ?? '',
  }
}

/** All a call holds, as one text to look for words in. */
export function textOfCall(call: ToolCall): string {
  const out: string[] = []
  collect(call.use.input, out, 0)
  for (const block of call.result?.content ?? []) if (block.kind === 'text') out.push(block.text)
  for (const message of call.work ?? []) {
    if (message.kind === 'prompt' || message.kind === 'reply')
      for (const block of message.blocks) if (block.kind === 'text') out.push(block.text)
    if (message.kind === 'reply') out.push(...message.calls.map(textOfCall))
  }
  return out.join('\n')
}

function collect(value: unknown, out: string[], depth: number): void {
  if (typeof value === 'string') out.push(value)
  else if (typeof value === 'object' && value !== null && depth < 8)
    for (const inner of Object.values(value)) collect(inner, out, depth + 1)
}
