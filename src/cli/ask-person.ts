import { isObject, parseJson } from '#base'
import type { Attention, PermissionAsk, PermissionRule, Question, QuestionAsk, Resolution } from '#model'
import { toJson } from '#render'
import { toRuleWords } from './ask-words.ts'
import type { Terminal } from './terminal.ts'

export interface AskOptions {
  readonly terminal: Terminal
  /** Somebody else answered, or nobody asks any more. */
  readonly signal: AbortSignal
  /** The person's editor. */
  readonly editor: string | undefined
  /** Says something to the person. */
  readonly say: (line: string) => void
}

/** Asks a person who sees the question already. `undefined` when there was no answer. */
export async function askPerson({ ask }: Attention, options: AskOptions): Promise<Resolution | undefined> {
  return ask.kind === 'permission' ? await askPermission(ask, options) : await askQuestions(ask, options)
}

async function askPermission(ask: PermissionAsk, options: AskOptions): Promise<Resolution | undefined> {
  const { terminal, signal, say } = options
  const scopes = (['session', 'always'] as const).filter((scope) => offersOf(ask, scope).length > 0)
  const choices = ['y', 'n', ...scopes.map((scope) => scope.charAt(0)), ...(ask.canEdit ? ['e'] : [])]
  const words = [
    'y once',
    'n no (words may follow)',
    ...scopes.map((scope) => `${scope.charAt(0)} ${scope === 'session' ? 'this session' : 'always'}`),
    ...(ask.canEdit ? ['e edit first'] : []),
  ]
  for (;;) {
    const line = await terminal.ask(`${words.join(' · ')}: `, signal)
    if (line === undefined) return undefined
    const [, choice = '', rest = ''] = /^\s*(\S+)\s*([^]*)$/.exec(line) ?? []
    switch (choice.toLowerCase()) {
      case 'y':
      case 'yes':
        if (rest === '') return { kind: 'allow', rules: [] }
        break
      case 'n':
      case 'no':
        return { kind: 'deny', ...(rest.trim() === '' ? {} : { words: rest.trim() }) }
      case 's':
      case 'a': {
        const scope = choice.toLowerCase() === 's' ? 'session' : 'always'
        const rules = scopes.includes(scope)
          ? await chooseRules(ask, { ...options, scope, given: rest })
          : undefined
        if (rules !== undefined) return { kind: 'allow', rules }
        break
      }
      case 'e': {
        const input = ask.canEdit && rest === '' ? await editInput(ask, options) : undefined
        if (input !== undefined) return { kind: 'allow', rules: [], input }
        break
      }
      default:
        break
    }
    if (signal.aborted) return undefined
    say(`note: type one of ${choices.join(', ')}.`)
  }
}

function offersOf(ask: PermissionAsk, scope: PermissionRule['scope']): readonly PermissionRule[] {
  return ask.rules.filter((rule) => rule.scope === scope)
}

/** Where there are several, a person says which: together they may allow much more than one of them. */
async function chooseRules(
  ask: PermissionAsk,
  options: AskOptions & { readonly scope: PermissionRule['scope']; readonly given: string },
): Promise<readonly string[] | undefined> {
  const offers = offersOf(ask, options.scope)
  const [only] = offers
  if (options.given === '' && offers.length === 1 && only !== undefined) return [only.id]
  for (const rule of offers) options.say(`  ${ask.rules.indexOf(rule) + 1}. ${toRuleWords(rule)}`)
  const line = options.given || (await options.terminal.ask('which (numbers)? ', options.signal))
  const numbers = (line ?? '').split(/[\s,]+/).filter((word) => word !== '')
  const chosen = numbers.map((word) => ask.rules[Number(word) - 1])
  if (chosen.length === 0 || chosen.some((rule) => rule?.scope !== options.scope)) return undefined
  return chosen.flatMap((rule) => (rule === undefined ? [] : [rule.id]))
}

/** In the person's editor, or in a line. Nothing but an object is an input. */
async function editInput(ask: PermissionAsk, options: AskOptions): Promise<object | undefined> {
  const { terminal, signal, editor } = options
  const edited =
    editor === undefined
      ? await terminal.ask('input as JSON: ', signal)
      : await terminal.edit(`${toJson(ask.input)}\n`, editor)
  const input = parseJson(edited ?? '')
  if (isObject(input)) return input
  options.say('note: that is no JSON object; nothing was answered.')
  return undefined
}

async function askQuestions(ask: QuestionAsk, options: AskOptions): Promise<Resolution | undefined> {
  const answers: (readonly string[])[] = []
  for (const [at, question] of ask.questions.entries()) {
    const of = ask.questions.length > 1 ? ` ${at + 1} of ${ask.questions.length}` : ''
    const answer = await askQuestion(question, of, options)
    if (answer === undefined) return undefined
    answers.push(answer)
  }
  return { kind: 'answer', answers }
}

async function askQuestion(
  question: Question,
  of: string,
  { terminal, signal, say }: AskOptions,
): Promise<readonly string[] | undefined> {
  for (;;) {
    const line = await terminal.ask(
      `answer${of}${question.free ? ' (number or words)' : ' (number)'}: `,
      signal,
    )
    if (line === undefined) return undefined
    const answer = toAnswer(question, line)
    if (answer !== undefined) return answer
    say('note: choose from what is offered.')
  }
}

/** The labels that numbers or words name, or words of one's own where they are taken. */
export function toAnswer({ options, multiple, free }: Question, line: string): readonly string[] | undefined {
  const words = line.trim()
  if (words === '') return undefined
  const parts = multiple ? words.split(/\s*[,|]\s*/) : [words]
  const labels = parts.map(
    (part) =>
      options.find(({ label }) => label.toLowerCase() === part.toLowerCase())?.label ??
      (/^\d+$/.test(part) ? options[Number(part) - 1]?.label : undefined),
  )
  const known = labels.flatMap((label) => label ?? [])
  if (known.length === parts.length) return known
  return free ? [words] : undefined
}
