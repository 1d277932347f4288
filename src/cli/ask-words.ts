import type { Attention, AttentionState, PermissionAsk, PermissionRule, QuestionAsk } from '#model'
import {
  exactLine,
  exactText,
  safeLine,
  textsOfAsk,
  toAskParts,
  toToolLine,
  warnOfHidden,
  type AskPart,
} from '#render'
import type { Console } from './console.ts'
import { toAge, toShortId, toShortPath } from './short.ts'

type Look = Pick<Console, 'paint' | 'home'>

/** Everything that is asked, whole, with every character visible: what is shown is what runs. */
export function toAskText({ ask, id }: Attention, look: Look): string {
  const { paint } = look
  const head = ask.kind === 'permission' ? `May ${exactLine(ask.tool)} run?` : 'A question'
  const warning = warnOfHidden(textsOfAsk(ask))
  const lines = [
    `${paint('warning', '◆')} ${paint('strong', head)}  ${paint('dim', `attention ${toShortId(id)}`)}`,
    ...(ask.changed === undefined
      ? []
      : [paint('warning', `  asked again: ${exactLine(ask.changed)} since it was asked before`)]),
    ...(ask.kind === 'permission' ? permissionLines(ask, look) : questionLines(ask, look)),
    ...(warning === undefined ? [] : [paint('error', `  ⚠ ${warning}`)]),
  ]
  return `${lines.join('\n')}\n`
}

function permissionLines(ask: PermissionAsk, { paint, home }: Look): readonly string[] {
  const parts = toAskParts(ask)
  return [
    ...(ask.reason === undefined ? [] : [paint('dim', `  the agent says: ${exactLine(ask.reason)}`)]),
    ...(parts.length === 0 ? [paint('dim', '  without any input')] : []),
    ...parts.flatMap((part) => partLines(part, paint)),
    paint('dim', `  in ${toShortPath(ask.workdir, home, exactLine)}`),
    ...ask.rules.map((rule, at) => `  ${at + 1}. ${toRuleWords(rule)}`),
  ]
}

function partLines(part: AskPart, paint: Look['paint']): readonly string[] {
  const exact = (text: string): readonly string[] =>
    exactText(text, (number) => paint('error', number)).split('\n')
  switch (part.kind) {
    case 'command':
      return exact(part.text).map((line, at) => `  ${at === 0 ? '$' : '>'} ${line}`)
    case 'path':
      return [`  ${exactLine(part.text)}`]
    case 'diff':
      return part.lines.map(({ kind, text }) => {
        const line = `  ${{ added: '+', removed: '-', same: ' ' }[kind]} ${exactText(text)}`
        return kind === 'same' ? line : paint(kind, line)
      })
    case 'no-newline':
      return [paint('dim', '    (no newline at the end)')]
    case 'field': {
      const [first = '', ...rest] = exact(part.text)
      return [`  ${exactLine(part.name)}: ${first}`, ...rest.map((line) => `    ${line}`)]
    }
    case 'plan':
    case 'value':
      return exact(part.text).map((line) => `  ${line}`)
  }
}

/** What a rule would allow, and for how long. */
export function toRuleWords({ words, scope }: PermissionRule): string {
  return `${scope === 'session' ? 'for this session' : 'always'}: ${exactLine(words)}`
}

function questionLines({ questions, workdir }: QuestionAsk, { paint, home }: Look): readonly string[] {
  return [
    ...questions.flatMap(({ question, options, multiple }) => [
      ...exactText(question)
        .split('\n')
        .map((line) => `  ${line}`),
      ...options.map(({ label, description }, at) => {
        const why = description === undefined ? '' : paint('dim', `  ${exactLine(description)}`)
        return `  ${at + 1}. ${exactLine(label)}${why}`
      }),
      ...(multiple ? [paint('dim', '  several of them may be chosen')] : []),
    ]),
    paint('dim', `  in ${toShortPath(workdir, home, exactLine)}`),
  ]
}

/** What is asked, in one line, with a mark when there is something in it that would not be seen. */
export function toAskLine({ ask }: Attention): string {
  const mark = warnOfHidden(textsOfAsk(ask)) === undefined ? '' : '⚠ '
  if (ask.kind === 'question') return `${mark}${exactLine(ask.questions[0]?.question ?? 'a question')}`
  const use = { kind: 'tool-use', id: '', name: ask.tool, input: ask.input } as const
  const { tool, detail } = toToolLine({ use, state: 'done' }, { workdir: ask.workdir, show: exactLine })
  return `${mark}${tool}${detail === '' ? '' : ` ${detail}`}`
}

/** How an attention ended, for somebody who came too late or looks on. */
export function toEndWords(state: AttentionState, now: number): string {
  switch (state.state) {
    case 'open':
      return 'still open'
    case 'lapsed':
      return `over without an answer (${LAPSES[state.reason]})`
    case 'resolved': {
      const { resolution, by, at } = state
      const age = toAge(at, now).replace('now', 'just now')
      return `${DONE[resolution.kind]} by ${safeLine(by)} (${age})`
    }
  }
}

const DONE = { allow: 'allowed', deny: 'denied', answer: 'answered' } as const
const LAPSES = {
  'agent-gone': 'the agent is gone',
  withdrawn: 'the agent does not ask any more',
  deadline: 'nobody answered in time',
  'session-ended': 'the session has ended',
  changed: 'the folder or the mode changed; it was asked again',
} as const
