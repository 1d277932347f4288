import { string } from '#base'
import type { LossBook } from '../loss.ts'
import { ownOf, type Said, type SaidBlock, type SaidMessage } from '../said.ts'
import type { NativeFacts } from './session.ts'

/** One thing after the other, as agents write it down: a prompt, or an answer with the results of its calls. */
export type Step =
  | { readonly kind: 'prompt'; readonly message: SaidMessage }
  | { readonly kind: 'answer'; readonly message: SaidMessage; readonly results: readonly SaidBlock[] }

/** What is said to begin with where a conversation begins with an answer, and its agent wants a user first. */
const OPENING = '(The conversation goes on from here.)'

/**
 * A conversation in steps. Prompts that were entries of their own are steps of their own. What an agent tells its model
 * about itself is left behind: the one that goes on says its own.
 */
export function toSteps({ messages }: Said, book: LossBook): readonly Step[] {
  const steps: Step[] = []
  for (const message of messages) {
    if (message.role === 'assistant') {
      steps.push({ kind: 'answer', message, results: [] })
      continue
    }
    const results = message.blocks.filter(({ block }) => block.kind === 'tool-result')
    const answer = steps.at(-1)
    if (results.length > 0 && answer?.kind === 'answer') steps[steps.length - 1] = { ...answer, results }
    const words = message.blocks.filter(
      (said) => said.block.kind !== 'tool-result' && !isAboutAgent(said, book),
    )
    for (const blocks of byEntry(words)) steps.push({ kind: 'prompt', message: { ...message, blocks } })
  }
  return steps
}

/** What clients put in the user's place about themselves, their folder and their rules. */
const ABOUT_AGENT =
  /^\s*<(?:environment_context|user_instructions|skills_instructions|permissions instructions|collaboration_mode|personality_spec|apps_instructions|plugins_instructions|session_context|hook_context)>/u

function isAboutAgent(said: SaidBlock, book: LossBook): boolean {
  const { block, origin } = said
  const role = string(ownOf(said, 'openai'), 'role')
  const isTold = role === 'developer' || role === 'system'
  if (!isTold && !(block.kind === 'text' && ABOUT_AGENT.test(block.text))) return false
  book.note('context', origin, {
    how: 'dropped',
    why: 'the agent said it to its model about itself; the one that goes on says its own',
  })
  return true
}

/** The same, with words of nobody in front where there is nothing to answer to. */
export function withOpening(steps: readonly Step[], book: LossBook): readonly Step[] {
  const first = steps[0]
  if (first?.kind !== 'answer') return steps
  const origin = first.message.blocks[0]?.origin ?? { entryId: '', index: 0 }
  book.note('order', origin, {
    how: 'added',
    why: 'a conversation begins with a user, and this one did not',
  })
  const block = { kind: 'text', text: OPENING } as const
  const opening: SaidBlock = {
    block,
    exact: { type: 'text', text: OPENING },
    origin: { entryId: '', index: 0 },
  }
  return [{ kind: 'prompt', message: { role: 'user', blocks: [opening], provider: 'unknown' } }, ...steps]
}

/** A step as a conversation of its own, for what writes whole conversations. */
export function toPiece(step: Step): Said {
  const results: readonly SaidMessage[] =
    step.kind === 'answer' && step.results.length > 0
      ? [{ role: 'user', blocks: step.results, provider: 'unknown' }]
      : []
  return { messages: [step.message, ...results], pending: [], losses: [] }
}

function byEntry(blocks: readonly SaidBlock[]): readonly (readonly SaidBlock[])[] {
  const groups: SaidBlock[][] = []
  for (const said of blocks) {
    const group = groups.at(-1)
    if (group?.[0]?.origin.entryId === said.origin.entryId) group.push(said)
    else groups.push([said])
  }
  return groups
}

/** Times in milliseconds that only go forward: that of the entry where it is known, else the next one. */
export interface Times {
  of(entryId: string | undefined): number
  readonly last: number
}

export function createTimes({ created, timeOf }: NativeFacts): Times {
  const begun = Date.parse(created)
  let last = Number.isNaN(begun) ? 0 : begun
  return {
    of(entryId) {
      const known = entryId === undefined ? Number.NaN : Date.parse(timeOf?.(entryId) ?? '')
      last = Number.isNaN(known) ? last + 1 : Math.max(last + 1, known)
      return last
    },
    get last() {
      return last
    },
  }
}

/** The entry that a message begins with. */
export function entryOf({ blocks }: Pick<SaidMessage, 'blocks'>): string | undefined {
  return blocks[0]?.origin.entryId
}

export function toTime(ms: number): string {
  return new Date(ms).toISOString()
}
