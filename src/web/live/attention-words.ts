import { toShortSigner, type Ask, type Attention, type AttentionState, type LapseReason } from '#model'
import { exactLine, isPlanAsk, safeLine, toToolLine } from '#render'

/** What is asked, in a line: `Bash: npm test`. For headings, lists and screen readers. */
export function toAskLine(ask: Ask): string {
  if (ask.kind === 'question') {
    const first = ask.questions[0]?.question ?? ''
    return ask.questions.length > 1
      ? `${ask.questions.length} questions: ${exactLine(first)}`
      : exactLine(first)
  }
  if (isPlanAsk(ask)) return 'a plan to approve'
  const use = { kind: 'tool-use', id: '', name: ask.tool, input: ask.input } as const
  const { tool, detail } = toToolLine({ use, state: 'done' }, { workdir: ask.workdir, show: exactLine })
  return detail === '' ? tool : `${tool}: ${detail}`
}

/** What a screen reader says when something is asked. */
export function announce({ ask }: Attention): string {
  return ask.kind === 'question' ? `Question asked: ${toAskLine(ask)}` : `Permission asked: ${toAskLine(ask)}`
}

/** What a card is headed with. */
export function toHeading(ask: Ask): string {
  if (ask.kind === 'question') return ask.questions.length > 1 ? 'The agent has questions' : 'The agent asks'
  if (isPlanAsk(ask)) return 'The agent has a plan'
  switch (ask.tool) {
    case 'Bash':
      return 'Run this command?'
    case 'Edit':
    case 'MultiEdit':
    case 'NotebookEdit':
      return 'Change this file?'
    case 'Write':
      return 'Write this file?'
    case 'WebFetch':
      return 'Fetch this address?'
    default:
      return `Use ${exactLine(ask.tool)}?`
  }
}

/** How something that was asked came to its end, and by whom. */
export function toOutcomeWords(state: AttentionState): string {
  switch (state.state) {
    case 'open':
      return 'Still open'
    case 'lapsed':
      return LAPSED[state.reason]
    case 'resolved': {
      const by = `by ${safeLine(toShortSigner(state.by).slice(0, 200))}`
      const { resolution } = state
      if (resolution.kind === 'answer') {
        const words = resolution.answers.map((answer) => answer.join(', ')).join('; ')
        return `Answered ${by}: ${safeLine(words.slice(0, 200))}`
      }
      if (resolution.kind === 'deny') {
        const words = resolution.words === undefined ? '' : `: ${safeLine(resolution.words.slice(0, 200))}`
        return `Denied ${by}${words}`
      }
      const changed = resolution.input === undefined ? '' : ', with another input'
      return `${resolution.rules.length > 0 ? 'Allowed from now on' : 'Allowed once'} ${by}${changed}`
    }
  }
}

const LAPSED: Readonly<Record<LapseReason, string>> = {
  'agent-gone': 'Nobody answered: the agent is gone. Nothing was allowed.',
  withdrawn: 'The agent does not ask any more. Nothing was allowed.',
  deadline: 'Nobody answered in time. Nothing was allowed.',
  'session-ended': 'The session ended. Nothing was allowed.',
  changed: 'The folder or the mode changed. Nothing was allowed; it was asked again.',
}
