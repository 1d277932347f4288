import { isObject, list, object, parseJson, string, type JsonObject } from '#base'
import type { Entry } from '#model'
import type { Mend, Trouble } from '#model'
import { INTERRUPTED } from '../said.ts'

/** A session that was mended: lines for a new file. The old one stays as it is. */
export interface Repaired {
  /** In the order of the new file, without newlines. */
  readonly lines: readonly string[]
  /** What was mended, in the order of the lines. */
  readonly mended: readonly Trouble[]
  /** What no change of a line can mend. */
  readonly left: readonly Trouble[]
}

export interface RepairOptions {
  /** The id of the new session. */
  readonly sessionId: string
  readonly mintId: () => string
}

/**
 * The lines of a conversation with the smallest change for each trouble: a block left out or replaced, a result
 * added, a line moved. Lines with no trouble differ only in the id of the session, and each says where it came from.
 */
export function toRepaired(
  entries: readonly Entry[],
  troubles: readonly Trouble[],
  options: RepairOptions,
): Repaired {
  const mends = new Map<string, Trouble[]>()
  for (const trouble of troubles) {
    if (trouble.mend === undefined) continue
    const { entryId } = trouble.origin
    mends.set(entryId, [...(mends.get(entryId) ?? []), trouble])
  }
  const drafts = entries.flatMap((entry) => toDraft(entry, mends.get(entry.id) ?? [], options))
  return {
    lines: chain(moved(drafts)).map((line) => JSON.stringify(line)),
    mended: troubles.filter(({ mend }) => mend !== undefined),
    left: troubles.filter(({ mend }) => mend === undefined),
  }
}

interface Draft {
  readonly id: string
  readonly line: JsonObject
  /** The line it is to follow. */
  readonly behind?: string | undefined
}

function toDraft(entry: Entry, troubles: readonly Trouble[], options: RepairOptions): readonly Draft[] {
  const parsed = parseJson(new TextDecoder().decode(entry.raw))
  if (!isObject(parsed)) return []
  const source = string(parsed, 'sessionId')
  const line: JsonObject = {
    ...parsed,
    sessionId: options.sessionId,
    ...(source === undefined || parsed['forkedFrom'] !== undefined
      ? {}
      : { forkedFrom: { sessionId: source, messageUuid: entry.id } }),
  }
  const changes = new Map<number, Mend>()
  const added: string[] = []
  let behind: string | undefined
  for (const { mend, origin, kind } of troubles) {
    if (mend === undefined) continue
    if (kind === 'role-unknown') return []
    if (mend.kind === 'add-result') added.push(mend.toolUseId)
    else if (mend.kind === 'move-line') ({ behind } = mend)
    else changes.set(origin.index, mend)
  }
  const mended = changes.size === 0 ? line : withContent(line, changes)
  const own: readonly Draft[] = mended === undefined ? [] : [{ id: entry.id, line: mended, behind }]
  return added.length === 0 ? own : [...own, toAddedResult(line, added, options)]
}

/** The line with its blocks changed; nothing when none is left. */
function withContent(line: JsonObject, changes: ReadonlyMap<number, Mend>): JsonObject | undefined {
  const message = object(line, 'message')
  const given = message?.['content']
  const blocks = typeof given === 'string' ? [{ type: 'text', text: given }] : list(message, 'content')
  const content = blocks.flatMap((block, index) => {
    const mend = changes.get(index)
    if (mend === undefined) return [block]
    return mend.kind === 'replace-block' ? [mend.block] : []
  })
  return content.length === 0 ? undefined : { ...line, message: { ...message, content } }
}

function toAddedResult(call: JsonObject, ids: readonly string[], { mintId }: RepairOptions): Draft {
  const {
    message: _message,
    requestId: _request,
    forkedFrom: _from,
    toolUseResult: _result,
    ...envelope
  } = call
  const id = mintId()
  const content = ids.map((tool_use_id) => ({
    type: 'tool_result',
    tool_use_id,
    content: INTERRUPTED,
    is_error: true,
  }))
  return { id, line: { ...envelope, type: 'user', uuid: id, message: { role: 'user', content } } }
}

function moved(drafts: readonly Draft[]): readonly Draft[] {
  const order = drafts.filter(({ behind }) => behind === undefined)
  for (const draft of drafts) {
    if (draft.behind === undefined) continue
    const at = order.findIndex(({ id }) => id === draft.behind)
    // Behind the other results of the same call's line that are there already.
    let to = at + 1
    while (order[to]?.behind === draft.behind) to++
    order.splice(to, 0, draft)
  }
  return order
}

/** Every line hangs from the one before it. */
function chain(drafts: readonly Draft[]): readonly JsonObject[] {
  let last: string | null = null
  return drafts.map(({ id, line }) => {
    const linked = { ...line, parentUuid: last }
    last = id
    return linked
  })
}
