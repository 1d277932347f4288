import type { EndReason, PermissionMode, RetryingFact, SessionView, TurnOutcome } from '#model'
import { safeLine, toToolLine } from '#render'

/** What a mode is called. */
export const MODE_NAMES: Readonly<Record<PermissionMode, string>> = {
  plan: 'Plan only',
  default: 'Ask me',
  'accept-edits': 'Edit without asking',
  bypass: 'Never ask',
}

/** Modes that can be chosen here. `bypass` exists in local configuration only. */
export const CHOICES: readonly ('plan' | 'default' | 'accept-edits')[] = ['plan', 'default', 'accept-edits']

/** Reads a choice of mode out of a field. */
export function findChoice(value: string): (typeof CHOICES)[number] | undefined {
  return CHOICES.find((choice) => choice === value)
}

/** Why a session is over. */
export function toEndWords(reason: EndReason): string {
  return ENDS[reason]
}

const ENDS: Readonly<Record<EndReason, string>> = {
  ended: 'The session was ended.',
  idle: 'The session ended: nothing happened for a long time.',
  orphaned: 'The session ended: no daemon came for it.',
  'agent-closed': 'The agent ended.',
  'agent-crashed': 'The agent crashed.',
  'agent-failed': 'The agent failed.',
  'start-failed': 'The agent could not be started.',
  'host-stopped': 'The session was stopped, as when the machine shuts down.',
  'host-gone': 'The process that held the session died.',
}

/** `The model is overloaded (529). Trying again in 4 s, for the 2nd of 10 times.` */
export function toRetryWords(retry: RetryingFact, leftMs: number): string {
  const left = Math.max(0, Math.ceil(leftMs / 1000))
  const when = left === 0 ? 'now' : `in ${left} s`
  return `${toStatusWords(retry.status, retry.message)} Trying again ${when} (${retry.attempt} of ${retry.attempts}).`
}

/** What a status of the model's interface means. */
function toStatusWords(status: number | undefined, message: string): string {
  const said = safeLine(message.slice(0, 400))
  switch (status) {
    case 429:
      return 'Too much was asked of the model (429).'
    case 529:
      return 'The model is overloaded (529).'
    case 401:
      return 'The agent is not logged in (401).'
    default:
      return said.endsWith('.') ? said : `${said}.`
  }
}

/** The call that runs right now, in a line. Nothing when the model is at it. */
export function findRunningCall({ turn, workdir }: SessionView): string | undefined {
  if (turn === undefined) return undefined
  const answered = new Set<string>()
  for (let at = turn.messages.length - 1; at >= 0; at--) {
    for (const block of turn.messages[at]?.blocks ?? []) {
      if (block.kind === 'tool-result') answered.add(block.toolUseId)
      if (block.kind === 'tool-use' && !answered.has(block.id)) {
        const { tool, detail } = toToolLine({ use: block, state: 'done' }, { workdir })
        return detail === '' ? tool : `${tool} ${detail}`
      }
    }
  }
  return undefined
}

/** How to go on after a turn that failed. */
export function toRetryPrompt(view: SessionView): string | undefined {
  const { turn } = view
  if (turn?.outcome?.kind !== 'failed') return undefined
  const said = turn.messages.some(({ role }) => role === 'agent')
  const asked = turn.messages.findLast(({ role }) => role === 'person')
  const words = asked?.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n\n')
  return said || words === undefined || words === '' ? 'Go on where you stopped.' : words
}

/** Why a turn failed. */
export function toFailureWords(outcome: TurnOutcome & { kind: 'failed' }): string {
  return toStatusWords(outcome.status, outcome.message)
}
