import type { Fields, KeptLine, PathStep, Transcript } from './corpus-transcript.ts'

/** A session that may be forked: the lines of its active path, and what they add up to. */
export interface ForkOrigin {
  readonly sessionId: string
  readonly lines: readonly KeptLine[]
  readonly path: readonly PathStep[]
  readonly beside: Transcript['beside']
  readonly spent: Transcript['spent']
  readonly turn: number
  readonly contextTokens: number
}

export function forkOrigin(t: Transcript): ForkOrigin {
  const alive = new Set([...t.path, ...t.beside].map((step) => step.uuid))
  return {
    sessionId: t.o.sessionId,
    lines: (t.kept ?? []).filter((line) => alive.has(line.uuid)),
    path: [...t.path],
    beside: [...t.beside],
    spent: t.spent,
    turn: t.turn,
    contextTokens: t.contextTokens,
  }
}

/**
 * Starts a transcript with the lines of another. `--fork-session` copies them with their uuids and no mark at all;
 * the SDK's `forkSession()` gives new uuids and says where each line came from. Message ids stay in both.
 */
export function copyFork(t: Transcript, origin: ForkOrigin, style: 'cli' | 'sdk'): void {
  const renamed = new Map<string, string>()
  if (style === 'sdk') for (const line of origin.lines) renamed.set(line.uuid, t.random.uuid())
  const now = (uuid: string): string => renamed.get(uuid) ?? uuid

  for (const { kind, uuid, fields } of origin.lines) {
    const { parentUuid, sourceToolAssistantUUID: source } = fields
    const copied: Fields = {
      ...fields,
      parentUuid: typeof parentUuid === 'string' ? now(parentUuid) : parentUuid,
      uuid: now(uuid),
      ...(typeof source === 'string' ? { sourceToolAssistantUUID: now(source) } : {}),
      sessionId: t.o.sessionId,
      ...(style === 'sdk' ? { forkedFrom: { sessionId: origin.sessionId, messageUuid: uuid } } : {}),
    }
    t.side(kind, copied)
  }
  t.path = origin.path.map((step) => ({ ...step, uuid: now(step.uuid) }))
  t.beside = origin.beside.map((step) => ({ ...step, uuid: now(step.uuid) }))
  t.tip = t.path.at(-1)?.uuid ?? null
  t.turn = origin.turn
  t.contextTokens = origin.contextTokens
  t.count(origin.spent)
}
