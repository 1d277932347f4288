import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { field } from '#base'
import { readJournal } from '#journal'
import {
  toChangedCall,
  type Attention,
  type AttentionState,
  type Block,
  type ChangedCall,
  type EndReason,
  type PermissionMode,
  type PromptState,
} from '#model'
import { hashOf } from './canonical-json.ts'
import { readJournalFact } from './journal-fact.ts'
import type { JournalFact } from './journal-fact.ts'

export interface KeptPrompt {
  readonly id: string
  /** Of what was said. */
  readonly hash: string
  /** What was said, as long as the agent may not have it. */
  readonly blocks?: readonly Block[] | undefined
  readonly by: string
  readonly at: string
  readonly state: PromptState
}

/** What the journal of a session says, after any number of hosts. */
export interface JournalState {
  /** Of the last host. */
  readonly started?: Extract<JournalFact, { readonly kind: 'session.started' }> | undefined
  /** As it was last stored. */
  readonly mode?: PermissionMode | undefined
  readonly model?: string | undefined
  /** The id the agent goes on under, when it took another one. */
  readonly agentSessionId?: string | undefined
  /** In the order they were admitted. */
  readonly prompts: readonly KeptPrompt[]
  /** Those that are open, oldest first. */
  readonly open: readonly Attention[]
  readonly settled: ReadonlyMap<string, AttentionState>
  readonly changedCalls: readonly ChangedCall[]
  /** Whether a turn had begun and not ended. */
  readonly isCut: boolean
  /** Of the last host; not there while it runs, and when it died. */
  readonly ended?:
    | { readonly reason: EndReason; readonly at: string; readonly message?: string | undefined }
    | undefined
}

export interface JournalFold {
  add(fact: JournalFact): void
  read(): JournalState
}

/** Puts the lines of a journal together, one after the other. Whatever they are, it does not throw. */
export function createJournalFold(): JournalFold {
  const prompts = new Map<string, KeptPrompt>()
  const open = new Map<string, Attention>()
  const settled = new Map<string, AttentionState>()
  const changedCalls: ChangedCall[] = []
  let state: Omit<JournalState, 'prompts' | 'open' | 'settled' | 'changedCalls'> = { isCut: false }

  function advance(id: string, to: 'in-doubt' | 'delivered'): void {
    const prompt = prompts.get(id)
    if (!prompt || prompt.state === 'delivered') return
    prompts.set(
      id,
      to === 'delivered' ? { ...prompt, blocks: undefined, state: to } : { ...prompt, state: to },
    )
  }

  return {
    add(fact) {
      switch (fact.kind) {
        case 'session.started':
          state = { started: fact, mode: fact.mode, model: fact.model ?? state.model, isCut: false }
          return
        case 'prompt.admitted': {
          if (prompts.has(fact.id)) return
          const { id, blocks, by, at } = fact
          prompts.set(id, { id, hash: hashOf(blocks), blocks, by, at, state: 'undelivered' })
          return
        }
        case 'prompt.sent':
          advance(fact.id, 'in-doubt')
          return
        case 'prompt.delivered':
          advance(fact.id, 'delivered')
          return
        case 'attention.opened':
          if (!settled.has(fact.attention.id)) open.set(fact.attention.id, fact.attention)
          return
        case 'attention.settled': {
          const changed = toChangedCall(open.get(fact.id)?.ask, fact.state)
          if (changed) changedCalls.push(changed)
          open.delete(fact.id)
          // There is no way back: the first one counts.
          if (!settled.has(fact.id)) settled.set(fact.id, fact.state)
          return
        }
        case 'mode.changed':
          state = { ...state, mode: fact.mode }
          return
        case 'model.changed':
          state = { ...state, model: fact.model }
          return
        case 'session.renamed':
          state = { ...state, agentSessionId: fact.agentSessionId }
          return
        case 'turn.started':
          state = { ...state, isCut: true }
          return
        case 'turn.ended':
          state = { ...state, isCut: false }
          return
        case 'session.ended': {
          const { reason, at, message } = fact
          state = { ...state, ended: { reason, at, message } }
        }
      }
    },
    read: () => ({
      ...state,
      prompts: [...prompts.values()],
      open: [...open.values()],
      settled,
      changedCalls,
    }),
  }
}

/** What the journal of a session says right now. Beside a living host it may be a moment old. */
export async function readSessionJournal(path: string): Promise<JournalState> {
  const fold = createJournalFold()
  for await (const item of readJournal(path)) {
    if (item.kind !== 'line') continue
    const fact = readJournalFact(item.value)
    if (fact) fold.add(fact)
  }
  return fold.read()
}

/** Where the journal of a session is, if it has one. */
export async function findSessionJournal(home: string, sessionId: string): Promise<string | undefined> {
  const root = join(home, 'journal')
  for (const year of await namesIn(root, /^\d{4}$/)) {
    for (const month of await namesIn(join(root, year), /^\d\d$/)) {
      const path = join(root, year, month, `${sessionId}.jsonl`)
      if (existsSync(path)) return path
    }
  }
  return undefined
}

/** Where the journal of a session is, or where a new one belongs: by the month in which the session was begun here. */
export async function sessionJournalPath(home: string, sessionId: string, now: number): Promise<string> {
  const found = await findSessionJournal(home, sessionId)
  if (found !== undefined) return found
  const [year = '', month = ''] = new Date(now).toISOString().split('-')
  return join(home, 'journal', year, month, `${sessionId}.jsonl`)
}

/** The newest first. */
async function namesIn(folder: string, pattern: RegExp): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => pattern.test(name)).toSorted((a, b) => (a < b ? 1 : -1))
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return []
    throw error
  }
}
