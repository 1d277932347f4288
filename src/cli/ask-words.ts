import { string } from '#base'
import type { Attention, AttentionState, PermissionAsk, PermissionRule, QuestionAsk } from '#model'
import { safeLine, safeText, toCallParts, toJson, toolLine, type CallPart } from '#render'
import type { Console } from './console.ts'
import { toAge, toShortId, toShortPath } from './short.ts'

type Look = Pick<Console, 'paint' | 'home'>

/** Everything that is asked, whole and made visible: what is shown is what runs. */
export function toAskText({ ask, id }: Attention, look: Look): string {
  const { paint } = look
  const head = ask.kind === 'permission' ? `May ${safeLine(ask.tool)} run?` : 'A question'
  const lines = [
    `${paint('warning', '◆')} ${paint('strong', head)}  ${paint('dim', `attention ${toShortId(id)}`)}`,
    ...(ask.kind === 'permission' ? permissionLines(ask, look) : questionLines(ask, look)),
  ]
  return `${lines.join('\n')}\n`
}

function permissionLines(ask: PermissionAsk, { paint, home }: Look): readonly string[] {
  const path = string(ask.input, 'file_path')
  const shown = partsOf(ask)
  return [
    ...(ask.reason === undefined ? [] : [paint('dim', `  ${safeLine(ask.reason)}`)]),
    ...(path === undefined || shown === undefined ? [] : [`  ${safeLine(path)}`]),
    ...(shown?.flatMap((part) => partLines(part, paint)) ?? indent(toJson(ask.input))),
    paint('dim', `  in ${toShortPath(ask.workdir, home)}`),
    ...ask.rules.map((rule, at) => `  ${at + 1}. ${toRuleWords(rule)}`),
  ]
}

/** Calls that read better as something else than their JSON, with nothing left out. */
function partsOf({ tool, input }: PermissionAsk): readonly CallPart[] | undefined {
  if (!['Bash', 'Edit', 'MultiEdit', 'Write'].includes(tool)) return undefined
  return toCallParts({ use: { kind: 'tool-use', id: '', name: tool, input }, state: 'pending' })
}

function partLines(part: CallPart, paint: Look['paint']): readonly string[] {
  switch (part.kind) {
    case 'input':
      return indent(part.text)
    case 'diff':
      return part.lines.map(({ kind, text }) => {
        const line = `  ${{ added: '+', removed: '-', same: ' ' }[kind]} ${safeText(text)}`
        return kind === 'same' ? line : paint(kind, line)
      })
    case 'output':
      return []
  }
}

function indent(text: string): readonly string[] {
  return safeText(text)
    .split('\n')
    .map((line) => `  ${line}`)
}

/** What a rule would allow, and for how long. */
export function toRuleWords({ words, scope }: PermissionRule): string {
  return `${scope === 'session' ? 'for this session' : 'always'}: ${safeLine(words)}`
}

function questionLines({ questions, workdir }: QuestionAsk, { paint, home }: Look): readonly string[] {
  return [
    ...questions.flatMap(({ question, options, multiple }) => [
      ...indent(question),
      ...options.map(({ label, description }, at) => {
        const why = description === undefined ? '' : paint('dim', `  ${safeLine(description)}`)
        return `  ${at + 1}. ${safeLine(label)}${why}`
      }),
      ...(multiple ? [paint('dim', '  several of them may be chosen')] : []),
    ]),
    paint('dim', `  in ${toShortPath(workdir, home)}`),
  ]
}

/** What is asked, in one line. */
export function toAskLine({ ask }: Attention): string {
  if (ask.kind === 'question') return safeLine(ask.questions[0]?.question ?? 'a question')
  const { tool, input, workdir } = ask
  const call = { use: { kind: 'tool-use', id: '', name: tool, input }, state: 'done' } as const
  return toolLine(call, workdir)
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
} as const
