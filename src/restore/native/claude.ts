import { toResumeCommand } from '#model'
import { toAnthropicContent } from '../anthropic.ts'
import { createLossBook, type LossBook } from '../loss.ts'
import type { Said, SaidBlock, SaidMessage } from '../said.ts'
import { createIds, type Ids } from './ids.ts'
import { LINEAGE_KEY, toLineageMark, toLines, type NativeFacts, type NativeSession } from './session.ts'
import { createTimes, entryOf, toSteps, toTime, withOpening, type Step, type Times } from './steps.ts'

/** The version whose lines these are. */
const VERSION = '2.1.325'

/**
 * A conversation as a session of Claude Code: one line for each block of an answer and one for each result, hung from
 * each other as the client does it. Nothing in it is billed a second time.
 */
export function toClaudeSession(said: Said, facts: NativeFacts): NativeSession {
  const ids = createIds('claude', facts)
  const book = createLossBook(said.losses)
  const times = createTimes(facts)
  const chain = createChain(facts, { ids, times, book })
  for (const step of withOpening(toSteps(said, book), book)) chain.add(step)
  return {
    agent: 'claude',
    id: ids.session,
    workdir: facts.workdir,
    files: [{ path: `projects/${toSlug(facts.workdir)}/${ids.session}.jsonl`, text: toLines(chain.end()) }],
    losses: book.losses,
    lineage: { from: facts.source, to: { agent: 'claude', sessionId: ids.session } },
    until: toTime(times.last),
    resume: toResumeCommand('claude', ids.session),
    prompt: ['claude', '--resume', ids.session, '-p'],
  }
}

/** The name of the folder in which Claude Code keeps the sessions of a workdir. */
export function toSlug(workdir: string): string {
  // The client counts UTF-16 units: a character outside the basic plane is two dashes.
  const units = workdir.replaceAll(/[^a-zA-Z0-9]/gu, (mark) => '-'.repeat(mark.length))
  if (units.length <= 200) return units
  let hash = 0
  for (let at = 0; at < workdir.length; at++) hash = (hash * 31 + workdir.charCodeAt(at)) | 0
  return `${units.slice(0, 200)}-${Math.abs(hash).toString(36)}`
}

interface Making {
  readonly ids: Ids
  readonly times: Times
  readonly book: LossBook
}

interface Chain {
  add(step: Step): void
  end(): readonly object[]
}

function createChain(facts: NativeFacts, { ids, times, book }: Making): Chain {
  const lines: object[] = []
  let parent: string | null = null

  function put(
    body: object,
    { after, entryId }: { readonly after: string | null; readonly entryId: string | undefined },
  ): string {
    const uuid = ids.uuid(`line ${String(lines.length)}`)
    lines.push({
      parentUuid: after,
      isSidechain: false,
      ...body,
      uuid,
      timestamp: toTime(times.of(entryId)),
      userType: 'external',
      entrypoint: 'cli',
      cwd: facts.workdir,
      sessionId: ids.session,
      version: VERSION,
      gitBranch: facts.branch ?? 'HEAD',
      ...(facts.source.agent === 'claude' && entryId !== undefined && entryId !== ''
        ? { forkedFrom: { sessionId: facts.source.sessionId, messageUuid: entryId } }
        : {}),
      ...(lines.length === 0 ? { [LINEAGE_KEY]: toLineageMark(facts) } : {}),
    })
    parent = uuid
    return uuid
  }

  function addPrompt({ message }: Step): void {
    const content = toAnthropicContent(message, book)
    const [only] = content
    if (only === undefined) return
    const text =
      content.length === 1 && 'text' in only && Object.keys(only).length === 2 ? only.text : content
    put(
      { type: 'user', message: { role: 'user', content: text } },
      { after: parent, entryId: entryOf(message) },
    )
  }

  function addAnswer(step: Step & { readonly kind: 'answer' }): void {
    const { message, results } = step
    const id =
      message.provider === 'anthropic' && message.id !== undefined
        ? message.id
        : `msg_01${ids.word(`answer ${String(lines.length)}`, 22)}`
    const hasCalls = message.blocks.some(({ block }) => block.kind === 'tool-use')
    const calls = new Map<string, string>()
    for (const [index, said] of message.blocks.entries()) {
      const content = toAnthropicContent({ ...message, blocks: [said] }, book)
      if (content.length === 0) continue
      const uuid = put(
        {
          message: {
            id,
            type: 'message',
            role: 'assistant',
            model: message.model ?? facts.model ?? 'unknown',
            content,
            stop_reason: hasCalls ? 'tool_use' : 'end_turn',
            stop_sequence: null,
            usage: NOTHING_USED,
          },
          apiBlockIndex: index,
          type: 'assistant',
        },
        { after: parent, entryId: said.origin.entryId },
      )
      if (said.block.kind === 'tool-use') calls.set(said.block.id, uuid)
    }
    for (const said of results) addResult(said, message.provider, calls)
  }

  function addResult(
    said: SaidBlock,
    provider: SaidMessage['provider'],
    calls: ReadonlyMap<string, string>,
  ): void {
    const caller = said.block.kind === 'tool-result' ? calls.get(said.block.toolUseId) : undefined
    const content = toAnthropicContent({ role: 'user', blocks: [said], provider }, book)
    put(
      {
        type: 'user',
        message: { role: 'user', content },
        ...(caller === undefined ? {} : { sourceToolAssistantUUID: caller }),
      },
      { after: caller ?? parent, entryId: said.origin.entryId },
    )
  }

  return {
    add: (step) => (step.kind === 'prompt' ? addPrompt(step) : addAnswer(step)),
    end() {
      if (facts.title === undefined || facts.title === '') return lines
      return [...lines, { type: 'custom-title', customTitle: facts.title, sessionId: ids.session }]
    },
  }
}

/** What was said was paid for where it was said. */
const NOTHING_USED = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
}
