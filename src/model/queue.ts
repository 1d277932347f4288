import { textOf } from './block.ts'
import type { CommandEntry, Entry, PromptEntry } from './entry.ts'

/** Words that were typed while a turn ran, and that no line has delivered so far. */
export interface QueuedWords {
  /** The entry that was written when they were typed, and where it stands. */
  readonly id: string
  readonly offset: number
  /** What they are compared by: the words, or of long ones a part and a hash. */
  readonly words: string
  readonly isPrompt: boolean
  /** Taken back into the input field: they may be sent again, changed or not. */
  readonly isWithdrawn?: true | undefined
}

/** What the entries so far say of those to come. Plain JSON, so that reading can resume later. */
export interface QueueState {
  readonly waiting?: readonly QueuedWords[] | undefined
}

/**
 * Tells which prompts stand twice in a session: when they were typed, and when they were delivered. Some clients wrote
 * down only that they were typed; then that line is all there is of them.
 */
export interface QueueTracker {
  /** The queued words that this entry delivers: it says what they say, and stands for them. */
  add(entry: Entry): readonly QueuedWords[]
  readonly state: QueueState
}

/** More never wait: what was not delivered by then will not be. */
const MOST_WAITING = 100

export function createQueueTracker(from: QueueState = {}): QueueTracker {
  let waiting = from.waiting ?? []

  function enqueue(entry: PromptEntry | CommandEntry): void {
    const { id, place } = entry
    const isPrompt = entry.kind === 'prompt' && entry.origin !== 'system'
    const words = { id, offset: place.offset, words: toKey(wordsOf(entry)), isPrompt }
    waiting = [...waiting, words].slice(-MOST_WAITING)
  }

  function withdraw(words: string | undefined): void {
    const taken = words === undefined ? waiting : findWaiting(waiting, words)
    waiting = waiting.map((each) => (taken.includes(each) ? { ...each, isWithdrawn: true } : each))
  }

  return {
    get state() {
      return waiting.length === 0 ? {} : { waiting }
    },
    add(entry) {
      if (isQueued(entry)) enqueue(entry)
      else if (entry.kind === 'record' && entry.type === WITHDRAWN) withdraw(entry.value)
      else if (waiting.length > 0) {
        const delivered = wordsDelivered(entry).flatMap((words) => findWaiting(waiting, words))
        if (delivered.length > 0) waiting = waiting.filter((each) => !delivered.includes(each))
        return delivered
      }
      return NONE
    },
  }
}

/** Entries whose words another one among these delivers. */
export function findDelivered(entries: Iterable<Entry>): ReadonlySet<string> {
  const queue = createQueueTracker()
  const delivered = new Set<string>()
  for (const entry of entries) for (const { id } of queue.add(entry)) delivered.add(id)
  return delivered
}

/** Whether the entry was written when its words were typed, and not when they were delivered. */
export function isQueued(entry: Entry): entry is (PromptEntry | CommandEntry) & { readonly queued: true } {
  return (entry.kind === 'prompt' || entry.kind === 'command') && entry.queued === true
}

const NONE: readonly QueuedWords[] = []
const WITHDRAWN = 'queue-operation/popAll'

function wordsOf(entry: PromptEntry | CommandEntry): string {
  if (entry.kind === 'prompt') return textOf(entry.blocks).trim()
  return [entry.command, entry.args].filter(Boolean).join(' ').trim()
}

/** What an entry may deliver, in the forms in which it may have been typed. */
function wordsDelivered(entry: Entry): readonly string[] {
  switch (entry.kind) {
    case 'prompt':
      return [wordsOf(entry)]
    case 'injection':
      return [textOf(entry.blocks).trim()]
    case 'command': {
      const typed = wordsOf(entry)
      if (typed === '') return []
      // Of a shell command the mark is typed apart from it.
      if (entry.command === '!') return [entry.args ?? '']
      return typed.startsWith('/') ? [typed] : [`/${typed}`]
    }
    case 'reply':
    case 'result':
    case 'interruption':
    case 'summary':
    case 'compaction':
    case 'context':
    case 'notice':
    case 'record':
    case 'delegated':
    case 'oversize':
    case 'unknown':
      return []
  }
}

/** Those that words are: one, and what was taken back before it was sent in the same words; or several in a row. */
function findWaiting(waiting: readonly QueuedWords[], words: string): readonly QueuedWords[] {
  const key = toKey(words.trim())
  if (key === '') return NONE
  const same = waiting.filter((each) => each.words === key)
  const first = same.find(({ isWithdrawn }) => isWithdrawn !== true)
  if (same.length > 0) return same.filter((each) => each === first || each.isWithdrawn === true)
  for (const from of waiting.keys()) {
    let joined = ''
    for (let to = from; to < waiting.length && joined.length < words.length; to++) {
      joined = to === from ? (waiting[to]?.words ?? '') : `${joined}\n${waiting[to]?.words ?? ''}`
      if (to > from && joined === words.trim()) return waiting.slice(from, to + 1)
    }
  }
  return NONE
}

/** Longer words are not kept as they are. */
const LONGEST = 2000
const PART = 200

function toKey(words: string): string {
  if (words.length <= LONGEST) return words
  // FNV-1a over all of them: two prompts of one length that begin and end alike are still told apart.
  let hash = 0x811c9dc5
  for (let at = 0; at < words.length; at++) hash = Math.imul(hash ^ words.charCodeAt(at), 0x01000193)
  return `${words.slice(0, PART)}\0${words.length} ${hash}\0${words.slice(-PART)}`
}
