import { list, string } from '#base'
import { toResumeCommand } from '#model'
import { createLossBook } from '../loss.ts'
import { toOpenAIResponses } from '../openai-responses.ts'
import type { Said } from '../said.ts'
import { createCodexForms } from './codex-forms.ts'
import { createIds } from './ids.ts'
import { LINEAGE_KEY, toLineageMark, toLines, type NativeFacts, type NativeSession } from './session.ts'
import { createTimes, entryOf, toPiece, toSteps, toTime, type Step } from './steps.ts'

/** The version whose lines these are. */
const VERSION = '0.166.0'

/**
 * A conversation as a session of Codex: what the model sees (`response_item`) and beside it what the person sees
 * (`event_msg`). It names no provider, which may not be set up here, and no context of a turn: of a model of another
 * family Codex would shorten the conversation first.
 */
export function toCodexSession(said: Said, facts: NativeFacts): NativeSession {
  const ids = createIds('codex', facts)
  const book = createLossBook(said.losses)
  const forms = createCodexForms(book)
  const times = createTimes(facts)
  const began = toTime(times.last)
  const lines: object[] = [
    {
      timestamp: began,
      type: 'session_meta',
      payload: {
        id: ids.session,
        timestamp: began,
        cwd: facts.workdir,
        originator: 'throughline',
        cli_version: VERSION,
        source: 'cli',
        ...(facts.branch === undefined ? {} : { git: { branch: facts.branch } }),
        [LINEAGE_KEY]: toLineageMark(facts),
      },
    },
  ]
  let turn: { readonly id: string; said: string | null } | undefined
  let at = began
  const put = (type: string, payload: object): number => lines.push({ timestamp: at, type, payload })
  const endTurn = (): void => {
    if (turn !== undefined)
      put('event_msg', { type: 'task_complete', turn_id: turn.id, last_agent_message: turn.said })
    turn = undefined
  }
  const beginTurn = (): void => {
    endTurn()
    turn = { id: ids.uuid(`turn ${String(lines.length)}`), said: null }
    put('event_msg', { type: 'task_started', turn_id: turn.id })
  }

  function add(step: Step): void {
    const piece = toPiece(step)
    const messages = piece.messages.map((message) => forms.toForms(message))
    const { input, losses } = toOpenAIResponses({ ...piece, messages })
    for (const { kind, origin, how, why } of losses) book.note(kind, origin, { how, why })
    at = toTime(times.of(entryOf(step.message)))
    if (step.kind === 'prompt' || turn === undefined) beginTurn()
    let isAnswered = false
    for (const each of input) {
      const item = toItem(each, `msg_${ids.uuid(`item ${String(lines.length)}`)}`)
      if (!isAnswered && isOutput(item) && step.kind === 'answer') {
        at = toTime(times.of(entryOf({ blocks: step.results })))
        isAnswered = true
      }
      put('response_item', item)
      const event = toEvent(item)
      if (event === undefined) continue
      put('event_msg', event)
      if (turn !== undefined && event.type === 'agent_message') turn.said = event.message
    }
  }

  for (const step of toSteps(said, book)) add(step)
  endTurn()
  const [date = '', time = ''] = began.slice(0, 19).split('T')
  const name = `rollout-${date}T${time.replaceAll(':', '-')}-${ids.session}.jsonl`
  return {
    agent: 'codex',
    id: ids.session,
    workdir: facts.workdir,
    files: [{ path: `sessions/${date.replaceAll('-', '/')}/${name}`, text: toLines(lines) }],
    losses: book.losses,
    lineage: { from: facts.source, to: { agent: 'codex', sessionId: ids.session } },
    until: toTime(times.last),
    resume: toResumeCommand('codex', ids.session),
    prompt: ['codex', 'exec', 'resume', ids.session],
  }
}

/**
 * The words of an answer as Codex writes them: in a request they may be a plain text, in its file they may not. The id
 * is one that Codex would give: without any, what it asks is not quite what the interface takes.
 */
function toItem(item: object, id: string): object {
  // Codex answers calls of its own shell as those of functions.
  if (string(item, 'type') === 'local_shell_call_output') return { ...item, type: 'function_call_output' }
  if (string(item, 'type') !== 'message' || string(item, 'role') !== 'assistant') return item
  const text = string(item, 'content')
  return { id, ...item, ...(text === undefined ? {} : { content: [{ type: 'output_text', text }] }) }
}

function isOutput(item: object): boolean {
  return (string(item, 'type') ?? '').endsWith('_output')
}

type Event =
  | { readonly type: 'user_message'; readonly message: string; readonly images: readonly string[] }
  | { readonly type: 'agent_message'; readonly message: string }
  | { readonly type: 'agent_reasoning'; readonly text: string }

/** What the person sees of an item. Calls and results are shown from the items themselves. */
function toEvent(item: object): Event | undefined {
  const texts = (key: string): string =>
    list(item, key)
      .map((part) => string(part, 'text') ?? '')
      .filter((text) => text !== '')
      .join('\n\n')
  switch (string(item, 'type')) {
    case 'message': {
      const message = texts('content')
      if (string(item, 'role') === 'assistant') return { type: 'agent_message', message }
      const images = list(item, 'content').flatMap((part) => string(part, 'image_url') ?? [])
      const rest = { local_images: [], text_elements: [] }
      return { type: 'user_message', message, images, ...rest }
    }
    case 'reasoning': {
      const text = texts('summary')
      return text === '' ? undefined : { type: 'agent_reasoning', text }
    }
    default:
      return undefined
  }
}
