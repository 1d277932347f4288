import { string } from '#base'
import type {
  AsideMessage,
  Block,
  Passage,
  PromptMessage,
  SessionSummary,
  SubagentSummary,
  ToolCall,
} from '#model'
import { toPlural, toShortCount, toSize } from './figures.ts'
import { safeLine } from './safe-text.ts'

/** A session and a way to read it piece by piece, so that its size does not matter. */
export interface Transcript {
  readonly session: SessionSummary
  readonly passages: AsyncIterable<readonly Passage[]>
  /** The conversation of one of the session's subagents. Without it subagents stay folded. */
  readonly subagent?: (id: string) => AsyncIterable<readonly Passage[]>
}

/** How deep subagents of subagents are unfolded. */
const DEEPEST_SUBAGENT = 4

/** The subagent a call started. */
function findSubagent(session: SessionSummary, call: ToolCall): SubagentSummary | undefined {
  const started = call.result?.startedAgentId
  return session.subagents.find(({ id, toolUseId }) => id === started || toolUseId === call.use.id)
}

/** The conversation of the subagent that a call started: from the subagent's own file, else from the session's. */
export function delegatedBy(
  { session, subagent: passagesOf }: Transcript,
  call: ToolCall,
  depth: number,
): { readonly label: string; readonly passages: AsyncIterable<readonly Passage[]> } | undefined {
  if (depth >= DEEPEST_SUBAGENT) return undefined
  const known = findSubagent(session, call)
  const type = known?.agentType ?? string(call.use.input, 'subagent_type') ?? 'subagent'
  if (known !== undefined && passagesOf !== undefined)
    return { label: safeLine(`${type}, ${toSize(known.size)}`), passages: passagesOf(known.id) }
  const { work } = call
  if (work === undefined) return undefined
  return { label: safeLine(`${type}, ${toPlural(work.length, 'message')}`), passages: inOnePiece(work) }
}

async function* inOnePiece(passages: readonly Passage[]): AsyncGenerator<readonly Passage[]> {
  yield passages
}

/** The agent's name for people: `Claude`. */
export function agentName(session: SessionSummary): string {
  const name = safeLine(session.agent)
  return name === '' ? 'Agent' : name.charAt(0).toUpperCase() + name.slice(1)
}

/** Whose session it is, and who wrote it down when that was not its agent: `Forgeflare session, recorded`. */
export function sessionKind(session: SessionSummary): string {
  const name = `${agentName(session)} session`
  switch (session.recorded?.as) {
    case 'recording':
      return `${name}, recorded`
    case 'copy':
      return `${name}, copied by Entire`
    case undefined:
      return name
  }
}

/** What a session is called, on one line. */
export function sessionName(session: SessionSummary): string {
  const name = safeLine((session.name ?? '').slice(0, 2000))
  return name === '' ? `Session ${safeLine(session.id)}` : name
}

/** The branch, unless there was none: a detached or missing repository is written as `HEAD`. */
export function branchOf({ gitBranch }: SessionSummary): string | undefined {
  return gitBranch === '' || gitBranch === 'HEAD' ? undefined : gitBranch
}

/** Who speaks in a prompt. What a subagent is told is its task, whoever the line says it is from. */
export function speakerOf(prompt: PromptMessage, depth: number): string {
  if (depth > 0) return 'Task'
  switch (prompt.origin) {
    case 'person':
      return 'Person'
    case 'program':
      return 'Program'
    case 'system':
      return 'System'
  }
}

/** The `ToolCall` of every tool-use block, in the order of the blocks. */
export function callsById(calls: readonly ToolCall[]): ReadonlyMap<string, ToolCall> {
  return new Map(calls.map((call) => [call.use.id, call]))
}

/** A block that cannot be shown as text, in words: `image, image/png, 12 kB`. */
export function describeBlock(block: Block): string {
  switch (block.kind) {
    case 'image':
    case 'document': {
      const what =
        block.kind === 'document' && block.title !== undefined ? `document ${block.title}` : block.kind
      const { source } = block
      switch (source.kind) {
        case 'base64':
          return safeLine(
            `${what}, ${source.mediaType || 'unknown type'}, ${toSize(base64Size(source.data))}`,
          )
        case 'text':
          return safeLine(`${what}, ${source.mediaType}, ${toPlural(source.text.length, 'character')}`)
        case 'url':
          return safeLine(`${what} at ${source.url.slice(0, 300)}`)
        case 'unknown':
          return safeLine(`${what} of an unknown kind`)
      }
    }
    // oxlint-disable-next-line no-fallthrough -- every kind of source has returned
    case 'thinking':
      return `thought for ${toPlural(wordCount(block.thinking), 'word')}`
    case 'redacted-thinking':
      return `thinking the model's maker keeps sealed, ${toSize(base64Size(block.data))}`
    case 'text':
      return 'text'
    case 'tool-use':
      return safeLine(`call of ${block.name}`)
    case 'tool-result':
      return 'tool result'
    case 'unknown':
      return 'a block of a kind nobody knows yet'
  }
}

/** `compacted by hand, 45k → 2.1k tokens`. */
export function describeCompaction(compaction: {
  readonly trigger: string
  readonly tokensBefore?: number
  readonly tokensAfter?: number
}): string {
  const { trigger, tokensBefore, tokensAfter } = compaction
  const how =
    trigger === 'manual' ? 'by hand' : trigger === 'auto' ? 'automatically' : `(${safeLine(trigger)})`
  if (tokensBefore === undefined) return `compacted ${how}`
  const after = tokensAfter === undefined ? '' : ` → ${toShortCount(tokensAfter)}`
  return `compacted ${how}, ${toShortCount(tokensBefore)}${after} tokens`
}

/** `attachment/skill_listing ×2, file-history-snapshot`. */
export function describeAside(aside: AsideMessage): string {
  const counts = new Map<string, number>()
  for (const { type } of aside.entries) counts.set(type, (counts.get(type) ?? 0) + 1)
  return safeLine([...counts].map(([type, n]) => (n === 1 ? type : `${type} ×${n}`)).join(', '))
}

function base64Size(data: string): number {
  return Math.floor((data.length * 3) / 4)
}

function wordCount(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}
