import { isWakeUp, parseDirectives } from '#model'
import { textOf, type Block, type Message, type Passage } from '#model'

/** One message of a session, as words. */
export interface SpokenMessage {
  /** The id of the message, as the session has it. */
  readonly id: string
  readonly speaker: 'human' | 'agent'
  readonly name: string
  readonly text: string
  readonly at?: string
  /** How much it matters for what comes next; nothing when absent. Orders what is kept of a long session. */
  readonly score?: number
}

/** What people and agents are called where an entry does not say. */
export interface SpeakerNames {
  readonly human: string
  readonly agent: string
}

export interface TranscriptOptions {
  readonly names: SpeakerNames
  /** Ids of messages that nobody said: wake-ups that were sent as prompts. What looks like one is left out anyway. */
  readonly leaveOut?: ReadonlySet<string>
}

/**
 * A session as text only, in the order of its file: what people and programs asked and what the agent answered.
 * Calls, results, thinking, directives, empty messages, rewound ones and words that nobody said are not in it.
 * Summaries of compactions are not either: what they stand for is there itself.
 */
export function toTranscript(
  passages: readonly Passage[],
  options: TranscriptOptions,
): readonly SpokenMessage[] {
  return passages.flatMap((passage) => {
    if (passage.kind === 'damage' || passage.offPath || options.leaveOut?.has(passage.id)) return []
    const said = toSaid(passage)
    if (said === undefined || said.text === '') return []
    const at = passage.at === undefined ? {} : { at: passage.at }
    return [{ id: passage.id, name: options.names[said.speaker], ...said, ...at }]
  })
}

function toSaid(message: Message): Pick<SpokenMessage, 'speaker' | 'text'> | undefined {
  switch (message.kind) {
    case 'prompt': {
      if (message.origin === 'system') return undefined
      const text = textOf(message.blocks).trim()
      return isWakeUp(text) ? undefined : { speaker: 'human', text }
    }
    case 'reply':
      if (message.synthetic || message.apiError) return undefined
      return { speaker: 'agent', text: toWords(message.blocks) }
    case 'command':
    case 'compaction':
    case 'notice':
    case 'orphan':
    case 'aside':
      return undefined
  }
}

/** Block by block: what one leaves open does not reach into the next. */
function toWords(blocks: readonly Block[]): string {
  const texts = blocks.map((block) => (block.kind === 'text' ? parseDirectives(block.text).text.trim() : ''))
  return texts.filter((text) => text !== '').join('\n\n')
}

/** A prompt and what was answered to it: transcripts are cut only between these. */
export type SpokenTurn = readonly SpokenMessage[]

/** Divides a transcript into turns. */
export function toSpokenTurns(messages: readonly SpokenMessage[]): readonly SpokenTurn[] {
  const turns: SpokenMessage[][] = []
  for (const message of messages) {
    const last = turns.at(-1)
    if (last === undefined || (message.speaker === 'human' && last.at(-1)?.speaker === 'agent'))
      turns.push([message])
    else last.push(message)
  }
  return turns
}
