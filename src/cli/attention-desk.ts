import { ThroughlineError } from '#base'
import type { Attention, AttentionState, Resolution } from '#model'
import type { Throughline } from '#wire'
import { askPerson } from './ask-person.ts'
import { toAskLine, toAskText, toEndWords } from './ask-words.ts'
import type { Console } from './console.ts'
import { toShortId } from './short.ts'
import type { Terminal } from './terminal.ts'

/** What is open in the session that is followed: each is asked or told once, and forgotten when it is settled. */
export interface AttentionDesk {
  opened(attention: Attention): void
  settled(id: string, state: AttentionState): void
  /** Those that are open now; whatever else was is not any more. */
  sync(open: readonly Attention[]): void
  /** Nobody is asked any more. Resolves when the person was left alone. */
  close(): Promise<void>
}

export interface DeskOptions {
  readonly throughline: Throughline
  readonly console: Console
  /** The person who is asked. Without one, it is said how to answer elsewhere. */
  readonly terminal: Terminal | undefined
  readonly editor: string | undefined
  /** `quiet`: whoever reads the output sees what is open, and answers elsewhere. */
  readonly manner: 'ask' | 'tell' | 'quiet' | 'deny'
  /** Writes what is asked, between what the agent says. */
  readonly show: (text: string) => Promise<void>
  readonly onIdle: () => void
}

const REFUSAL = 'Nobody is there to ask: this was run with --deny-all.'

export function createDesk(options: DeskOptions): AttentionDesk {
  const { throughline, console, terminal, manner } = options
  const open = new Map<string, { readonly attention: Attention; readonly over: AbortController }>()
  const told = new Set<string>()
  const answeredHere = new Set<string>()
  let working: Promise<void> = Promise.resolve()

  async function handle(attention: Attention, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    if (manner === 'deny') return await resolve(attention, { kind: 'deny', words: REFUSAL })
    if (manner === 'quiet') return
    if (manner === 'tell' || terminal === undefined) return tell(attention)
    await options.show(toAskText(attention, console))
    const { editor } = options
    const resolution = await askPerson(attention, {
      terminal,
      signal,
      editor,
      say: (line) => console.say(line),
    })
    if (resolution !== undefined) await resolve(attention, resolution)
    options.onIdle()
  }

  function tell(attention: Attention): void {
    console.say(`note: waits for an answer: ${toAskLine(attention)}`)
    console.say(
      `next: throughline attentions ${toShortId(attention.id)}, then throughline answer ${attention.id} …`,
    )
  }

  async function resolve(attention: Attention, resolution: Resolution): Promise<void> {
    const { id, hash } = attention
    answeredHere.add(id)
    try {
      const outcome = await throughline.live.resolve({ id, hash, resolution })
      if (outcome.kind === 'late') console.say(`note: ${toEndWords(outcome.state, console.now)} before.`)
    } catch (error) {
      if (!(error instanceof ThroughlineError)) throw error
      console.say(`error: ${error.message}`)
      console.say(`next: ${error.hint}`)
    }
  }

  function opened(attention: Attention): void {
    if (told.has(attention.id)) return
    told.add(attention.id)
    const over = new AbortController()
    open.set(attention.id, { attention, over })
    working = working
      .then(() => handle(attention, over.signal))
      .catch((error: unknown) => {
        console.say(`error: ${error instanceof Error ? error.message : String(error)}`)
      })
  }

  function settle(id: string): boolean {
    const known = open.get(id)
    if (known === undefined) return false
    open.delete(id)
    known.over.abort()
    return true
  }

  return {
    opened,
    settled(id, state) {
      const known = open.get(id)
      if (!settle(id) || known === undefined || manner === 'quiet' || manner === 'deny') return
      if (answeredHere.has(id)) return
      console.say(`note: ${toAskLine(known.attention)}: ${toEndWords(state, console.now)}`)
    },
    sync(attentions) {
      const ids = new Set(attentions.map(({ id }) => id))
      for (const id of open.keys()) if (!ids.has(id)) settle(id)
      for (const attention of attentions) opened(attention)
    },
    async close() {
      for (const id of open.keys()) settle(id)
      await working
    },
  }
}
