import { parseJson } from '#base'
import { isWakeUp } from '#model'

/**
 * What a prompt tells the scripted agent to do, in order. A cue stands in double brackets anywhere in the prompt:
 *
 *     [[say words]]                    says it, word by word
 *     [[think words]]                  thinks it
 *     [[tool Bash {"command":"ls"}]]   calls a tool with this input, and goes on when it has the result
 *     [[with Write {…}]]               calls a tool in the same message as the one before
 *     [[ask Which one? | Red | Blue]]  asks a question with these options; `ask*` takes several of them
 *     [[recall]]                       says every earlier prompt of the conversation
 *     [[slow 50]]                      from here on, waits so many milliseconds before each piece
 *     [[pause 200]]                    waits once
 *     [[fail 529]]                     the model answers with this status
 *     [[cut]]                          the answer breaks off in the middle
 *     [[hang]]                         nothing more comes, until somebody interrupts
 *     [[die]]                          the agent's process is gone
 *
 * A prompt without a cue is answered with its own words. Text that looks like a cue and is none is text. A wake-up is
 * greeted: its cues are words of earlier sessions.
 */
export type Cue =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'think'; readonly text: string }
  | ToolCue
  | { readonly kind: 'recall' }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'fail'; readonly status: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'die' }

export interface ToolCue {
  readonly kind: 'tool'
  readonly name: string
  readonly input: unknown
  /** Whether it stands in the same message as the call before it. */
  readonly joined: boolean
}

/** Reads the cues of a prompt. Never throws. */
export function readCues(prompt: string): readonly Cue[] {
  if (isWakeUp(prompt)) return [{ kind: 'say', text: 'Hello again.' }]
  const cues: Cue[] = []
  let at = prompt.indexOf('[[')
  while (at !== -1) {
    const found = findCue(prompt, at + 2)
    if (found) cues.push(found.cue)
    at = prompt.indexOf('[[', found?.end ?? at + 2)
  }
  return cues.length > 0 ? cues : [{ kind: 'say', text: `You said: ${prompt}` }]
}

/**
 * The messages that cues make: each ends with a tool call, except the last. A model is asked once for each of them.
 */
export function toSegments(cues: readonly Cue[]): readonly (readonly Cue[])[] {
  const segments: Cue[][] = [[]]
  for (const [index, cue] of cues.entries()) {
    const before = cues[index - 1]
    const goesOn = cue.kind === 'tool' && cue.joined
    if (before?.kind === 'tool' && !goesOn) segments.push([])
    segments.at(-1)?.push(cue)
  }
  if (segments.at(-1)?.at(-1)?.kind === 'tool') segments.push([{ kind: 'say', text: 'Done.' }])
  return segments
}

/** The pieces in which a text is streamed: words, each with the space that follows it. */
export function toPieces(text: string): readonly string[] {
  return text.match(/\S+\s*|\s+/gu) ?? []
}

/** The cue whose inside begins at `start`. The inside may hold brackets itself: the first end that makes sense counts. */
function findCue(prompt: string, start: number): { readonly cue: Cue; readonly end: number } | undefined {
  for (let end = prompt.indexOf(']]', start); end !== -1; end = prompt.indexOf(']]', end + 1)) {
    const cue = readCue(prompt.slice(start, end))
    if (cue) return { cue, end: end + 2 }
    if (!/^(?:tool|with)\s/u.test(prompt.slice(start))) return undefined
  }
  return undefined
}

function readCue(inside: string): Cue | undefined {
  const [, name = '', rest = ''] = /^([a-z]+\*?)(?:\s+([^]*))?$/u.exec(inside) ?? []
  switch (name) {
    case 'say':
    case 'think':
      return { kind: name, text: rest }
    case 'tool':
    case 'with':
      return readToolCue(rest, name === 'with')
    case 'ask':
    case 'ask*':
      return toQuestion(rest, name === 'ask*')
    case 'slow':
    case 'pause':
      return /^\d+$/u.test(rest) ? { kind: name, ms: Number(rest) } : undefined
    case 'fail':
      return /^[45]\d\d$/u.test(rest) ? { kind: 'fail', status: Number(rest) } : undefined
    case 'recall':
    case 'cut':
    case 'hang':
    case 'die':
      return { kind: name }
    default:
      return undefined
  }
}

function readToolCue(rest: string, joined: boolean): Cue | undefined {
  const [, name, json] = /^(\w+)\s+([^]+)$/u.exec(rest) ?? []
  const input = json === undefined ? undefined : parseJson(json)
  return name === undefined || input === undefined ? undefined : { kind: 'tool', name, input, joined }
}

function toQuestion(rest: string, multiSelect: boolean): Cue {
  const [question = '', ...labels] = rest.split('|').map((part) => part.trim())
  const options = labels.map((label) => ({ label, description: `Choose ${label}` }))
  const input = { questions: [{ question, header: 'Question', multiSelect, options }] }
  return { kind: 'tool', name: 'AskUserQuestion', input, joined: false }
}
