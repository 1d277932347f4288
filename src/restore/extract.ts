import { list, shorten, string } from '#base'
import {
  parseDirectives,
  readPatched,
  textOf,
  type Message,
  type ReplyMessage,
  type ToolCall,
  type ToolUseBlock,
  type Turn,
} from '#model'
import { toDecisions } from './decisions.ts'

/** What is to be known of a turn when it is not there in full any more, taken from what was said, word by word. */
export interface TurnExtract {
  readonly number: number
  /** Its first entry: there it is in full. */
  readonly entryId: string
  readonly prompt: string
  /** What the agent came to: the end of its last words. */
  readonly outcome: string
  /** What was chosen and why, by the agent or by a person who was asked. */
  readonly decisions: readonly string[]
  /** What was changed and run; where nothing was, what was looked at. */
  readonly actions: readonly string[]
  /** Files that were written. */
  readonly changed: readonly string[]
  /** Files that were looked at or written. */
  readonly files: readonly string[]
  readonly errors: readonly string[]
  /** What the agent asked to be remembered. */
  readonly learnings: readonly string[]
  /** The list of things to do as it was last. */
  readonly tasks: readonly string[]
}

const PROMPT = 600
const OUTCOME = 500
const ACTION = 140
const ACTIONS = 10
const ERROR = 200
const ERRORS = 4
const ANSWER = 200

export function toTurnExtract(turn: Turn, number: number): TurnExtract {
  const replies = turn.messages.filter((message): message is ReplyMessage => message.kind === 'reply')
  const calls = replies.flatMap((reply) => reply.calls)
  const texts = replies.map((reply) => textOf(reply.blocks)).filter((text) => text.trim() !== '')
  const learnings = texts.flatMap((text) =>
    parseDirectives(text).directives.map(({ content }) => shorten(content, PROMPT)),
  )
  const said = texts.map((text) => parseDirectives(text).text.trim()).filter((text) => text !== '')
  const outcome = toOutcome(said.at(-1) ?? '')
  return {
    number,
    entryId: turn.messages[0]?.id ?? '',
    prompt: promptOf(turn),
    outcome,
    decisions: [
      ...toDecisions(said).filter((sentence) => !outcome.includes(sentence)),
      ...calls.flatMap(toAnswers),
    ],
    actions: toActions(calls),
    changed: unique(
      calls.flatMap(({ use, state }) => (state === 'failed' || state === 'refused' ? [] : changedBy(use))),
    ),
    files: unique(calls.flatMap(({ use }) => [...changedBy(use), fileOf(use.input) ?? []].flat())),
    errors: calls
      .flatMap(({ use, state, result }) =>
        state === 'failed'
          ? [`${toAction(use)}: ${shorten(tellingLine(textOf(result?.content ?? [])), ERROR)}`]
          : [],
      )
      .slice(-ERRORS),
    learnings,
    tasks: calls.map(({ use }) => toTasks(use)).findLast((tasks) => tasks.length > 0) ?? [],
  }
}

function wordsOf(message: Message): readonly string[] {
  return message.kind === 'prompt' ? [textOf(message.blocks).trim()] : []
}

function promptOf({ messages }: Turn): string {
  const asked = messages.flatMap((message) =>
    message.kind === 'prompt' && message.origin === 'system' ? [] : wordsOf(message),
  )
  const prompts = asked.filter((text) => text !== '')
  const all = prompts.length > 0 ? prompts : messages.flatMap(wordsOf)
  return shorten(all.filter((text) => text !== '').join('\n\n'), PROMPT)
}

/** The last paragraphs: an agent says at the end what it did and what is left. */
function toOutcome(text: string): string {
  if (text.length <= OUTCOME) return text
  const paragraphs = text.split(/\n{2,}/u)
  let outcome = ''
  for (const paragraph of paragraphs.toReversed()) {
    if (outcome !== '' && outcome.length + paragraph.length > OUTCOME) break
    outcome = outcome === '' ? paragraph : `${paragraph}\n\n${outcome}`
  }
  return shorten(outcome, OUTCOME)
}

/** What changed something comes before what only looked: reading can be done again. */
function toActions(calls: readonly ToolCall[]): readonly string[] {
  const doing = calls.filter(({ use }) => !isLooking(use))
  const told = doing.length > 0 ? doing : calls
  return unique(told.map(({ use }) => toAction(use))).slice(-ACTIONS)
}

const LOOKING =
  /^(?:Read|Grep|Glob|LS|NotebookRead|TodoWrite|TodoRead|update_plan|ToolSearch|read_file|read_many_files|list_directory|glob|search_file_content|grep|list|view_image|todowrite|todoread|write_todos)$/iu

function isLooking({ name }: ToolUseBlock): boolean {
  return LOOKING.test(name)
}

function toAction({ name, input }: ToolUseBlock): string {
  return `${name} ${toArgument(input)}`.trim()
}

const ARGUMENTS = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'absolute_path',
  'path',
  'pattern',
  'query',
  'url',
  'prompt',
  'description',
]

function toArgument(input: unknown): string {
  const patched = patchedFiles(input)
  if (patched.length > 0) return shorten(patched.join(', '), ACTION)
  for (const key of ARGUMENTS) {
    const found =
      string(input, key) ??
      list(input, key)
        .filter((word) => typeof word === 'string')
        .join(' ')
    if (found !== '') return shorten(firstLine(found), ACTION)
  }
  return typeof input === 'string' ? shorten(firstLine(input), ACTION) : ''
}

const BODIES = ['content', 'new_string', 'newString', 'new_source', 'edits', 'old_string', 'oldString']

/** The files that a call writes to. */
function changedBy({ input }: ToolUseBlock): readonly string[] {
  const hasBody = BODIES.some((key) => string(input, key) !== undefined || list(input, key).length > 0)
  const path = fileOf(input)
  return [...(hasBody && path !== undefined ? [path] : []), ...patchedFiles(input)]
}

function fileOf(input: unknown): string | undefined {
  return ['file_path', 'notebook_path', 'filePath', 'absolute_path'].reduce<string | undefined>(
    (found, key) => found ?? string(input, key),
    undefined,
  )
}

/** The files of a patch, whether it is given as a text or in a field. */
function patchedFiles(input: unknown): readonly string[] {
  const patch = typeof input === 'string' ? input : (string(input, 'input') ?? string(input, 'patch') ?? '')
  return patch.includes('*** Begin Patch') ? readPatched(patch).map(({ path }) => path) : []
}

/** What a person chose who was asked. */
function toAnswers({ use, result, state }: ToolCall): readonly string[] {
  if (use.name !== 'AskUserQuestion' && use.name !== 'ExitPlanMode') return []
  if ((state === 'failed' || state === 'refused') && use.name === 'ExitPlanMode')
    return ['A plan was not approved.']
  const text = textOf(result?.content ?? []).trim()
  return text === '' ? [] : [shorten(text.replaceAll(/\s+/gu, ' '), ANSWER)]
}

/** Things to do, with how far they are, as agents keep them. */
function toTasks({ input }: ToolUseBlock): readonly string[] {
  const tasks = [...list(input, 'todos'), ...list(input, 'plan')]
  return tasks.flatMap((task) => {
    const text = string(task, 'content') ?? string(task, 'step') ?? string(task, 'description')
    return text === undefined ? [] : [`${shorten(text, ACTION)} (${string(task, 'status') ?? 'open'})`]
  })
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}

const TELLING =
  /\b(?:\w*(?:Error|Exception)|error|fatal|panic|failed|denied|refused|not found|no such|cannot|invalid|timed out)\b/iu

/** The line that says what went wrong; programs that say it in no such words say it at the end. */
function tellingLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.find((line) => TELLING.test(line)) ?? lines.findLast((line) => line !== '') ?? ''
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
