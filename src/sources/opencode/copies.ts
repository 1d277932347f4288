import { number, object, string } from '#base'
import type { OpencodeMessage, OpencodeRows, OpencodeSession } from './rows.ts'

/** Whose copies the messages of a fork are: the messages that were said first. */
export interface Copies {
  readonly originals: ReadonlyMap<string, Original>
  /** When the session began to have something of its own, in milliseconds: after everything that it copied. */
  readonly ownSince?: number
}

interface Original {
  readonly sessionId: string
  readonly messageId: string
}

const FORK = / \(fork #\d+\)$/u

/**
 * The messages of a session that are copies. opencode gives them ids of their own and says nowhere whose copies they
 * are; a title says it only until somebody renames one of the two. But a fork is younger than what it copied, and a
 * copy has the times and the tokens of its original to the millisecond.
 */
export function createCopyFinder(): CopyFinder {
  /** Forks and what they copied. Others are read for it once: copied rows are as old as the fork, and stay. */
  const known = new Map<string, { readonly copied: number; readonly copies: Copies }>()
  return (session, messages, among) => {
    const { created = Number.POSITIVE_INFINITY, title = '' } = session
    const older = messages.filter(({ data }) => createdOf(data) < created)
    if (older.length === 0 && !FORK.test(title)) return NO_COPIES
    const before = known.get(session.id)
    if (before?.copied === older.length && older.length > 0) return before.copies
    const copies = findCopies(session, older.length > 0 ? older : messages, among)
    known.set(session.id, { copied: older.length, copies })
    return copies
  }
}

export type CopyFinder = (
  session: OpencodeSession,
  messages: readonly OpencodeMessage[],
  among: { readonly sessions: readonly OpencodeSession[]; readonly holder: OpencodeRows },
) => Copies

export const NO_COPIES: Copies = { originals: new Map() }

function findCopies(
  session: OpencodeSession,
  messages: readonly OpencodeMessage[],
  { sessions, holder }: Parameters<CopyFinder>[2],
): Copies {
  const mine = new Map(
    messages.flatMap(({ id, data }) =>
      string(data, 'role') === 'assistant' ? [[likenessOf(data), { id, end: endOf(data) }] as const] : [],
    ),
  )
  const youngest = Math.max(...messages.map(({ data }) => createdOf(data)))
  /** By the id of the copy. Of a fork of a fork the first one said it. */
  const first = new Map<string, Said>()
  let ownSince = session.created ?? 0
  for (const other of sessions) {
    if (other.projectId !== session.projectId || other.id === session.id) continue
    if ((other.created ?? 0) > youngest) continue
    for (const { id, data } of holder.messagesOf(other.id)) {
      const copy = mine.get(likenessOf(data))
      if (copy === undefined || string(data, 'role') !== 'assistant') continue
      const said = { session: other, id }
      if (!isFirst(said, first.get(copy.id) ?? { session, id: copy.id })) continue
      first.set(copy.id, said)
      ownSince = Math.max(ownSince, copy.end + 1)
    }
  }
  if (first.size === 0) return NO_COPIES
  const toOriginal = ({ session: { id: sessionId }, id: messageId }: Said): Original => ({
    sessionId,
    messageId,
  })
  return { originals: new Map([...first].map(([id, said]) => [id, toOriginal(said)])), ownSince }
}

interface Said {
  readonly session: OpencodeSession
  readonly id: string
}

/** Which of two messages that are alike was said first, by everything that tells it. Ids of messages ascend. */
function isFirst(a: Said, b: Said): boolean {
  const [before, after] = [a.session.created, b.session.created]
  if (before !== undefined && after !== undefined && before !== after) return before < after
  const depths = [a, b].map(({ session: { title = '' } }) => title.split(' (fork #').length)
  return depths[0] === depths[1] ? a.id < b.id : (depths[0] ?? 0) < (depths[1] ?? 0)
}

function createdOf(data: OpencodeMessage['data']): number {
  return number(object(data, 'time'), 'created') ?? Number.POSITIVE_INFINITY
}

function endOf(data: OpencodeMessage['data']): number {
  const time = object(data, 'time')
  return number(time, 'completed') ?? number(time, 'created') ?? 0
}

function likenessOf(data: OpencodeMessage['data']): string {
  const time = object(data, 'time')
  return JSON.stringify([
    time?.['created'],
    time?.['completed'],
    data['tokens'],
    data['modelID'],
    data['finish'],
  ])
}
