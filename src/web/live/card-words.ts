import type { EndReason, PermissionMode } from '#model'
import type { BoardCard } from '#wire'
import { toSentence } from '../answer.ts'
import { toEndWords } from './session-words.ts'

/** How much a person is asked in a mode. */
export const MODE_MEANINGS: Readonly<Record<PermissionMode, string>> = {
  plan: 'Reads and plans, and changes nothing.',
  default: 'Asks before it changes or runs anything.',
  'accept-edits': 'Changes files without asking; asks before it runs anything else.',
  bypass: 'Does everything without asking.',
}

/** What a card says of its state, in one word for the eye and the ear. */
export function stateOf({ state, lastTurn }: BoardCard): {
  readonly kind: 'waiting' | 'running' | 'pending' | 'done' | 'failed' | 'ended'
  readonly words: string
} {
  switch (state.state) {
    case 'waiting':
      return { kind: 'waiting', words: 'waiting' }
    case 'running':
      return { kind: 'running', words: 'running' }
    case 'pending':
      return { kind: 'pending', words: 'starting' }
    case 'idle':
      if (lastTurn === 'failed') return { kind: 'failed', words: 'failed' }
      return { kind: 'done', words: lastTurn === 'interrupted' ? 'stopped' : 'done' }
    case 'ended':
      return GOOD_ENDS.has(state.reason)
        ? { kind: 'ended', words: 'ended' }
        : { kind: 'failed', words: 'ended abruptly' }
  }
}

const GOOD_ENDS: ReadonlySet<EndReason> = new Set([
  'ended',
  'idle',
  'orphaned',
  'agent-closed',
  'host-stopped',
])

/** Why a session is as it is, and what to do about it; nothing when that goes without saying. */
export function reasonOf({
  state,
  where,
  attentions,
  trouble,
  lastTurn,
}: BoardCard): { readonly words: string; readonly hint: string } | undefined {
  if (state.state === 'ended') {
    return { words: toSentence(trouble ?? state.message ?? toEndWords(state.reason)), hint: state.hint ?? '' }
  }
  if (state.state === 'waiting' && where === 'elsewhere' && attentions.length === 0) {
    const what = trouble === undefined || trouble === '' ? 'It waits' : trouble
    return {
      words: `${what.charAt(0).toUpperCase()}${what.slice(1)}:`,
      hint: 'to be answered in its terminal.',
    }
  }
  if (trouble !== undefined && trouble !== '') return { words: toSentence(trouble), hint: '' }
  if (lastTurn === 'failed' && state.state === 'idle') return { words: 'The last turn failed.', hint: '' }
  return undefined
}
