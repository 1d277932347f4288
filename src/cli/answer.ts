import { readFileSync } from 'node:fs'
import { isObject, parseJson, ThroughlineError } from '#base'
import type {
  Attention,
  AuditedEnd,
  AuditEntry,
  PermissionAsk,
  PermissionRule,
  QuestionAsk,
  Resolution,
} from '#model'
import { toShortSigner } from '#model'
import { exactLine, safeLine } from '#render'
import type { Throughline } from '#wire'
import { toAnswer } from './ask-person.ts'
import { toAskLine, toEndWords, toRuleWords } from './ask-words.ts'
import { findAttention } from './attentions.ts'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { withLive } from './live-session.ts'
import type { Site } from './site.ts'

/** `throughline answer` */
export async function answer(site: Site, values: Values, console: Console): Promise<number> {
  const [query = '', verb = ''] = values.args
  return await withLive(site, async (throughline) => {
    const open = await throughline.live.attentions()
    const over = open.some(({ id }) => id.startsWith(query))
      ? undefined
      : await findSettled(throughline, query)
    if (over !== undefined) {
      if (values.flag('json')) await console.out.write(toJsonLine({ kind: 'late', ...over }))
      else console.say(`error: too late: it was ${toSettledWords(over.settled)}`)
      return 1
    }
    const attention = findAttention(open, query)
    const resolution = toResolution(attention, verb, values)
    const { id } = attention
    // Whoever decided by what they saw before says what that was.
    const hash = values.value('hash') ?? attention.hash
    const outcome = await throughline.live.resolve({ id, hash, resolution })
    if (values.flag('json')) await console.out.write(toJsonLine({ id, ...outcome }))
    else if (outcome.kind === 'won')
      console.say(`${toAskLine(attention)}: ${toEndWords(outcome.state, Date.now())}`)
    else console.say(`error: too late: it was ${toEndWords(outcome.state, Date.now())}`)
    return outcome.kind === 'won' ? 0 : 1
  })
}

type Settled = Extract<AuditEntry, { kind: 'attention.settled' }>

/** How something ended that was asked in a session that is run here. */
async function findSettled(
  throughline: Throughline,
  query: string,
): Promise<Pick<Settled, 'id' | 'at' | 'settled'> | undefined> {
  if (query === '') return undefined
  for (const { sessionId, where } of await throughline.live.board()) {
    if (where !== 'here') continue
    const { entries } = await throughline.live.audit(sessionId)
    for (const entry of entries.toReversed()) {
      if (entry.kind !== 'attention.settled' || !entry.id.startsWith(query)) continue
      return { id: entry.id, at: entry.at, settled: entry.settled }
    }
  }
  return undefined
}

function toSettledWords(settled: AuditedEnd): string {
  if (settled.end === 'lapsed') return `over without an answer (${safeLine(settled.reason)})`
  return `${{ allow: 'allowed', deny: 'denied', answer: 'answered' }[settled.end]} by ${exactLine(toShortSigner(settled.by))}`
}

function toResolution({ ask }: Attention, verb: string, values: Values): Resolution {
  const words = values.value('words')
  if (verb === 'deny') return { kind: 'deny', ...(words === undefined ? {} : { words }) }
  if (ask.kind === 'question') return { kind: 'answer', answers: toAnswers(ask, verb, values) }
  if (verb === 'answer') throw usage('this asks for a permission', 'Say allow, session, always or deny.')
  const file = values.value('input')
  return {
    kind: 'allow',
    rules: verb === 'allow' ? [] : toRules(ask, verb === 'always' ? 'always' : 'session', values),
    ...(file === undefined ? {} : { input: readInput(file) }),
  }
}

/** Each `--option` answers the next question; `Red|Blue` chooses several. */
function toAnswers({ questions }: QuestionAsk, verb: string, values: Values): readonly (readonly string[])[] {
  if (verb !== 'answer') throw usage('this is a question', 'Say `answer` with --option or --words, or deny.')
  const words = values.value('words')
  const given = [...values.all('option'), ...(words === undefined ? [] : [words])]
  if (given.length !== questions.length) {
    throw usage(
      `there ${questions.length === 1 ? 'is one question' : `are ${questions.length} questions`}, and ${given.length} answers`,
      'Give one --option for each, in their order.',
    )
  }
  return questions.map((question, at) => {
    const answers = toAnswer(question, given[at] ?? '')
    if (answers !== undefined) return answers
    const labels = question.options.map(({ label }) => exactLine(label)).join(', ')
    throw usage(`${JSON.stringify(given[at])} is not on offer`, `It is one of: ${labels}.`)
  })
}

function toRules(ask: PermissionAsk, scope: PermissionRule['scope'], values: Values): readonly string[] {
  const offers = ask.rules.filter((rule) => rule.scope === scope)
  const numbers = values.all('rule')
  const [only] = offers
  if (numbers.length === 0 && offers.length === 1 && only !== undefined) return [only.id]
  const chosen = numbers.map((number) => ask.rules[Number(number) - 1])
  if (chosen.length > 0 && chosen.every((rule) => rule?.scope === scope)) {
    return chosen.flatMap((rule) => (rule === undefined ? [] : [rule.id]))
  }
  if (offers.length === 0) throw usage('no such rule is offered', 'Allow it this once, or deny it.')
  const listed = offers.map((rule) => `${ask.rules.indexOf(rule) + 1}. ${toRuleWords(rule)}`).join(' · ')
  throw usage('it has to be said which rule', `Choose with --rule: ${listed}`)
}

function readInput(file: string): object {
  let text = ''
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch {
    throw usage(`${file} cannot be read`, 'Name a file with a JSON object, or - for what is piped in.')
  }
  const input = parseJson(text)
  if (isObject(input)) return input
  throw usage(`${file} holds no JSON object`, 'Begin with what `throughline attentions <id> --json` shows.')
}

function usage(message: string, hint: string): ThroughlineError {
  return new ThroughlineError('bad-usage', message, { hint })
}
