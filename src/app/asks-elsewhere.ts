import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isObject, string } from '#base'
import { openJournal, readJournal, type Journal } from '#journal'
import { createAttentions, createClock, watchFolder, type Attentions } from '#live'
import type { Answer, AnswerOutcome, Attention } from '#model'
import type { AskRequest, PendingAsk } from '#wire'

/** What sessions ask that run in terminals of their own, for as long as somebody there waits for it. */
export interface AsksElsewhere {
  ask(request: AskRequest): PendingAsk
  attentions(): readonly Attention[]
  /** `undefined`: none of these. */
  resolve(answer: Answer): Promise<AnswerOutcome | undefined>
  /** Nobody waits any more: whoever asked hears nothing, and goes on without us. */
  close(): Promise<void>
}

type Elsewhere = { readonly request: AskRequest; readonly attentions: Attentions; waiting: number }

export interface AsksElsewhereOptions {
  readonly home: string
  readonly now: () => number
  readonly onChange: (request: AskRequest, attentions: readonly Attention[]) => void
}

/** Questions are on disk before they are shown, and answers before they are told, in `<home>/asks.jsonl`. */
export function createAsksElsewhere({ home, now, onChange }: AsksElsewhereOptions): AsksElsewhere {
  const clock = createClock(now)
  const sessions = new Map<string, Elsewhere>()
  /** Which session an attention belongs to, the settled ones too. */
  const owners = new Map<string, string>()
  let opening: Promise<Journal> | undefined

  function journal(): Promise<Journal> {
    opening ??= openAsks(join(home, 'asks.jsonl'), now)
    opening.catch(() => (opening = undefined))
    return opening
  }

  function sessionOf(request: AskRequest): Elsewhere {
    const known = sessions.get(request.sessionId)
    if (known !== undefined) return known
    const { sessionId } = request
    const tell = (): void => onChange(request, made.attentions.list())
    const made: Elsewhere = {
      request,
      waiting: 0,
      attentions: createAttentions({
        sessionId,
        clock,
        mintId: () => randomUUID(),
        record: async (fact) => await (await journal()).append({ sessionId, ...fact }),
        onOpened(attention) {
          owners.set(attention.id, sessionId)
          tell()
        },
        onSettled: tell,
        watch: watchFolder,
        // It lapsed all the same: whoever asked was told nothing.
        onUnrecorded: () => {},
      }),
    }
    sessions.set(sessionId, made)
    return made
  }

  return {
    ask(request) {
      const session = sessionOf(request)
      const gone = new AbortController()
      return {
        answer: session.attentions.open(request.ask, gone.signal).catch(() => undefined),
        withdraw: () => gone.abort(),
      }
    },
    attentions: () => [...sessions.values()].flatMap(({ attentions }) => attentions.list()),
    async resolve(answer) {
      const session = sessions.get(owners.get(answer.id) ?? '')
      return session && (await session.attentions.resolve(answer))
    },
    async close() {
      for (const { attentions } of sessions.values()) await attentions.lapseAll('session-ended')
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

/** Those that asked when the last process died were told nothing: what they asked is over. */
async function openAsks(path: string, now: () => number): Promise<Journal> {
  const open = new Map<string, string>()
  const journal = await openJournal(path)
  for await (const item of readJournal(path)) {
    if (item.kind !== 'line' || !isObject(item.value)) continue
    const { value } = item
    const opened = string(value['attention'], 'id')
    const sessionId = string(value, 'sessionId') ?? ''
    if (value['kind'] === 'attention.opened' && opened !== undefined) open.set(opened, sessionId)
    if (value['kind'] === 'attention.settled') open.delete(string(value, 'id') ?? '')
  }
  const at = new Date(now()).toISOString()
  for (const [id, sessionId] of open) {
    const state = { state: 'lapsed', reason: 'agent-gone', at }
    await journal.append({ sessionId, kind: 'attention.settled', at, id, state })
  }
  return journal
}
