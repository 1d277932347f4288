import { list, parseJson, string } from '#base'
import { readCues, toSegments, type Cue } from '#drivers'
import { readBlocks } from '#model'
import { isChat, readChat } from './model-api-chat.ts'
import { isGemini, readGemini } from './model-api-gemini.ts'
import { isResponses, readSaid, type SaidItem } from './model-api-responses.ts'
import type { ModelRequest } from './model-api.ts'
import type { ModelStep } from './model-api-stream.ts'

/**
 * The script that does what the prompts say, with the cues of the scripted agent. It keeps nothing: a request holds
 * the whole conversation, and how far it got says what comes next.
 */
export function followCues(request: ModelRequest): readonly ModelStep[] {
  const said = findSaid(request)
  const { prompts, calls } = said === undefined ? readMessages(request) : readProgress(said)
  const segments = toSegments(readCues(prompts.at(-1) ?? ''))
  return toSteps(segments[calls] ?? [{ kind: 'say', text: 'Done.' }], prompts.slice(0, -1))
}

interface Progress {
  readonly prompts: readonly string[]
  /** How many answers with calls came since the last prompt. */
  readonly calls: number
}

/** What was said, in the dialects that say it item by item. */
function findSaid({ path, body }: ModelRequest): readonly SaidItem[] | undefined {
  if (isResponses(path)) return readSaid(body)
  if (isChat(path)) return readChat(body)
  return isGemini(path) ? readGemini(body) : undefined
}

function readProgress(said: readonly SaidItem[]): Progress {
  const prompts: string[] = []
  let calls = new Set<string>()
  for (const { role, texts, callOf } of said) {
    if (callOf !== undefined) calls.add(callOf)
    for (const text of role === 'user' ? texts : []) {
      const words = wordsOf(text)
      if (words === '') continue
      prompts.push(words)
      calls = new Set()
    }
  }
  return { prompts, calls: calls.size }
}

function readMessages(request: ModelRequest): Progress {
  const messages = list(request.body, 'messages').map((message) => ({
    role: string(message, 'role'),
    blocks: readBlocks(
      typeof message === 'object' && message !== null && 'content' in message ? message.content : [],
    ),
  }))
  const prompts: string[] = []
  let calls = 0
  for (const { role, blocks } of messages) {
    // Prompts that got no answer stand in one message with the next one, as blocks of their own.
    for (const block of role === 'assistant' ? [] : blocks) {
      const words =
        block.kind !== 'text' ? '' : role === 'user' ? wordsOf(block.text) : sentMeanwhile(block.text)
      if (words === '') continue
      prompts.push(words)
      calls = 0
    }
    if (role === 'assistant' && blocks.some((block) => block.kind === 'tool-use')) calls += 1
  }
  return { prompts, calls }
}

/** What a person wrote, without what the agent put around it. */
function wordsOf(text: string): string {
  return unquoted(text)
    .replaceAll(
      /<(system-reminder|local-command-caveat|command-[a-z]+|local-command-stdout|environment_context|turn_aborted|user_instructions|session_context|hook_context)>[^]*?<\/\1>/gu,
      '',
    )
    .replaceAll(/\[Request interrupted by user[^\]]*\]/gu, '')
    .replace(/^Your response above was cut off mid-stream\.[^]*$/u, '')
    .trim()
}

/** opencode hands a prompt of several words on as a JSON string. */
function unquoted(text: string): string {
  const value = text.startsWith('"') ? parseJson(text) : undefined
  return typeof value === 'string' ? value : text
}

/** What a person wrote while the agent worked: it is handed on in the agent's own words. */
function sentMeanwhile(text: string): string {
  const [, words = ''] =
    /^The user sent a new message while you were working:\n([^]*?)\n\nThis is how/u.exec(text) ?? []
  return words
}

function toSteps(cues: readonly Cue[], earlier: readonly string[]): readonly ModelStep[] {
  const steps: ModelStep[] = []
  let everyMs = 0
  for (const cue of cues) {
    switch (cue.kind) {
      case 'say':
        steps.push({ kind: 'text', text: cue.text, everyMs })
        break
      case 'think':
        steps.push({ kind: 'thinking', text: cue.text, everyMs })
        break
      case 'recall':
        steps.push({ kind: 'text', text: `Earlier: ${earlier.join(' / ')}`, everyMs })
        break
      case 'tool':
        steps.push({ kind: 'tool', name: cue.name, input: cue.input })
        break
      case 'fail':
        steps.push({ kind: 'error', status: cue.status })
        break
      case 'slow':
        everyMs = cue.ms
        break
      case 'pause':
        steps.push({ kind: 'pause', ms: cue.ms })
        break
      case 'cut':
      case 'hang':
        steps.push({ kind: cue.kind })
        break
      // A model cannot end the process that asks it; breaking off is the nearest thing.
      case 'die':
        steps.push({ kind: 'cut' })
        break
    }
  }
  return steps
}
