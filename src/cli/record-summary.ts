import { safeLine, toPlural } from '#render'
import type { ConversationView, ProxyCounts } from '#recorder'
import type { Console } from './console.ts'
import { toShortPath } from './short.ts'

/** What was recorded, and what was not. */
export interface RecordSummary {
  readonly conversations: readonly ConversationView[]
  readonly troubles: readonly string[]
  readonly missing: number
  readonly counts: ProxyCounts
}

/** For a program: the same as for a person. */
export function toSummaryJson({ conversations, troubles, missing, counts }: RecordSummary): object {
  return {
    recorded: conversations,
    missing,
    troubles,
    requests: counts.requests,
    answers: counts.answers,
  }
}

/** A few lines for a person. */
export function toSummaryLines(summary: RecordSummary, { home }: Pick<Console, 'home'>): readonly string[] {
  const { conversations, counts, troubles, missing } = summary
  const lost = missing === 0 ? [] : [`error: ${toPlural(missing, 'turn')} could not be recorded.`]
  const why = missing === 0 ? [] : troubles.map((trouble) => `  ${safeLine(trouble)}`)
  const mains = conversations.filter((one) => one.subagentOf === undefined && one.turns > 0)
  if (mains.length === 0) {
    const words =
      counts.requests === 0
        ? 'note: nothing was recorded: the command asked no model through the proxy.'
        : 'note: nothing was recorded: no conversation with a model passed.'
    return missing === 0 ? [words] : [...lost, ...why]
  }
  const rows = mains.map((one) => {
    const below = conversations.filter((other) => other.subagentOf === one.sessionId)
    const all = [one, ...below]
    const sum = (pick: (view: ConversationView) => number): number =>
      all.reduce((total, view) => total + pick(view), 0)
    const tokens = `${sum(({ tokens: { input, cacheCreation } }) => input + cacheCreation)} in, ${sum(({ tokens: { output } }) => output)} out, ${sum(({ tokens: { cacheRead } }) => cacheRead)} cached`
    const sent = below.filter(({ path }) => !path.includes('agent-aside-')).length
    const sub = sent === 0 ? '' : ` · ${toPlural(sent, 'subagent')}`
    return `  ${toShortPath(one.folder, home)} · ${safeLine(one.agent ?? 'unknown')} · ${toPlural(
      sum(({ turns }) => turns),
      'turn',
    )}${sub} · ${tokens}`
  })
  return [`note: recorded ${toPlural(mains.length, 'conversation')}:`, ...rows, ...lost, ...why]
}
