import { stat } from 'node:fs/promises'
import { isObject, string } from '#base'
import { openJournal } from '#journal'
import type { Journal } from '#journal'
import type { AuditEntry, AuditFact, Block, MessageFact } from '#model'
import { createChainCheck, linkLine } from './audit-chain.ts'
import type { ChainEnd } from './audit-chain.ts'
import { toAuditedInput, toAuditFact, toOpenAsk } from './audit-fact.ts'
import type { OpenAsk } from './audit-fact.ts'
import { auditPath, readLines, toEntry } from './audit-reader.ts'
import { toIso } from './clock.ts'
import type { Clock } from './clock.ts'
import type { JournalFact } from './journal-fact.ts'

/**
 * The audit log of one session: what its agent called, and what people decided. Each line holds the hash of the line
 * before it.
 *
 * One line is written at a time: a line that fails must not leave the next one with the hash of something that is not
 * there.
 */
export interface Audit {
  /**
   * Puts on disk what belongs into the log of something that goes into the journal. Resolves when it is there, and at
   * once where nothing belongs there; rejects with `journal-unwritable` when it is not certain.
   */
  record(fact: JournalFact): Promise<void>
  /** Says that the last thing recorded of an attention did not come about. Never rejects. */
  takeBack(attentionId: string): void
  /**
   * Notes the calls and results in a message, each once, and resolves when they are on disk. Those that cannot be
   * written are kept and written before the next line; then it rejects.
   */
  see(message: MessageFact): Promise<void>
  /** Waits for what is under way, then lets the file go. */
  close(): Promise<void>
}

/** What a log says of the hosts before this one. */
export interface AuditState {
  readonly end: ChainEnd
  /** Calls that are in it, each with the hash of its input, and results. */
  readonly called: ReadonlyMap<string, string>
  readonly returned: ReadonlySet<string>
  /** Attentions that were opened and not settled. */
  readonly open: ReadonlyMap<string, OpenAsk>
  /** Whether it says of its last host how that ended. */
  readonly isEnded: boolean
}

export interface AuditOptions {
  readonly clock: Clock
}

/** No more calls and results than these are held while the disk takes none; then they are counted. */
const HELD = 10_000

/** An attention whose beginning is not in the log. */
const NOBODY_KNOWS: OpenAsk = { asked: { ask: 'permission', shown: '' }, rules: [] }

/** Opens the audit log of a session, and goes on where it ends. A torn line at its end is set aside, and that is noted. */
export async function openAudit(home: string, sessionId: string, options: AuditOptions): Promise<Audit> {
  const path = auditPath(home, sessionId)
  const before = await sizeOf(path)
  const journal = await openJournal(path)
  try {
    const offset = await sizeOf(path)
    const audit = auditOn(journal, await readAuditState(path, sessionId), options)
    if (offset < before) await audit.add({ kind: 'tail.recovered', offset, bytes: before - offset })
    return audit
  } catch (error) {
    await journal.close()
    throw error
  }
}

/** Where a log has come to. */
export async function readAuditState(path: string, sessionId: string): Promise<AuditState> {
  const check = createChainCheck(sessionId)
  const called = new Map<string, string>()
  const returned = new Set<string>()
  const open = new Map<string, OpenAsk>()
  const settled = new Map<string, OpenAsk>()
  let isEnded = true
  const fold = (entry: AuditEntry): void => {
    if (entry.kind === 'session.started') isEnded = false
    if (entry.kind === 'session.ended') isEnded = true
    if (entry.kind === 'tool.called') called.set(entry.toolUseId, entry.input.hash)
    if (entry.kind === 'tool.returned') returned.add(entry.toolUseId)
    if (entry.kind === 'attention.opened') open.set(entry.id, { asked: entry.asked, rules: [] })
    if (entry.kind === 'attention.settled') {
      settled.set(entry.id, open.get(entry.id) ?? NOBODY_KNOWS)
      open.delete(entry.id)
    }
    if (entry.kind === 'attention.voided' && !open.delete(entry.id)) {
      const again = settled.get(entry.id)
      if (again) open.set(entry.id, again)
    }
  }
  await readLines(path, (line) => {
    check.add(line)
    const entry = toEntry(line.value)
    if (entry) fold(entry)
  })
  return { end: check.end(), called, returned, open, isEnded }
}

/** A log on a journal that is open already. */
export function auditOn(
  journal: Pick<Journal, 'append'> & Partial<Pick<Journal, 'close'>>,
  state: AuditState,
  { clock }: AuditOptions,
): Audit & { add(fact: AuditFact): Promise<void> } {
  const called = new Map(state.called)
  const returned = new Set(state.returned)
  const open = new Map(state.open)
  let end = state.end
  let queue: Promise<unknown> = Promise.resolve()
  /** What is still to be written before anything else. */
  const held: { readonly at: string; readonly fact: AuditFact }[] = []
  let lost = 0

  async function write(at: string, fact: AuditFact): Promise<void> {
    const next = linkLine(end, { at, fact })
    await journal.append(next.value)
    end = next.end
  }

  async function writeHeld(): Promise<void> {
    for (let first = held[0]; first; first = held[0]) {
      await write(first.at, first.fact)
      held.shift()
    }
    if (lost === 0) return
    await write(toIso(clock), { kind: 'lines.lost', count: lost })
    lost = 0
  }

  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = queue.then(work)
    queue = done.catch(() => {})
    return done
  }

  function add(fact: AuditFact): Promise<void> {
    const at = toIso(clock)
    return inTurn(async () => {
      await writeHeld()
      await write(at, fact)
    })
  }

  /** What is asked about is what the call was recorded with, or is said with the question. */
  function withInput(line: AuditFact, ask: OpenAsk | undefined): AuditFact {
    if (line.kind !== 'attention.opened' || line.asked.ask !== 'permission') return line
    const { toolUseId, inputHash } = line.asked
    if (toolUseId !== undefined && called.get(toolUseId) === inputHash) return line
    return { ...line, asked: { ...line.asked, input: toAuditedInput(ask?.input) } }
  }

  function hold(fact: AuditFact): void {
    if (held.length < HELD) held.push({ at: toIso(clock), fact })
    else lost += 1
  }

  return {
    add,
    async record(fact) {
      if (fact.kind === 'attention.opened') open.set(fact.attention.id, toOpenAsk(fact.attention))
      const id = fact.kind === 'attention.opened' ? fact.attention.id : 'id' in fact ? fact.id : ''
      const line = toAuditFact(fact, open.get(id))
      if (line) await add(withInput(line, open.get(id)))
    },
    takeBack(id) {
      hold({ kind: 'attention.voided', id })
      inTurn(writeHeld).catch(() => {})
    },
    async see({ role, blocks, parentToolUseId }) {
      if (role === 'person') return
      for (const block of blocks) {
        const call = findCall(block)
        if (call && !called.has(call.id)) {
          const { id: toolUseId, name: tool } = call
          const input = toAuditedInput(call.input)
          called.set(toolUseId, input.hash)
          hold({ kind: 'tool.called', toolUseId, tool, input, parentToolUseId })
        }
        if (block.kind === 'tool-result' && !returned.has(block.toolUseId)) {
          returned.add(block.toolUseId)
          hold({ kind: 'tool.returned', toolUseId: block.toolUseId, isError: block.isError })
        }
      }
      if (held.length > 0) await inTurn(writeHeld)
    },
    async close() {
      await queue
      await journal.close?.()
    },
  }
}

/** A call of a tool, also of one that does not run here: those have kinds of their own. */
function findCall(
  block: Block,
): { readonly id: string; readonly name: string; readonly input: unknown } | undefined {
  if (block.kind === 'tool-use') return block
  const value = block.kind === 'unknown' && isObject(block.value) ? block.value : undefined
  const id = string(value, 'id')
  const isCall = string(value, 'type')?.endsWith('tool_use') === true
  return isCall && id !== undefined
    ? { id, name: string(value, 'name') ?? '', input: value?.['input'] }
    : undefined
}

/**
 * Ends the log of a host that died without a word: what was open lapsed, and the session ended. Only for whoever holds
 * the lock of the session.
 */
export async function closeAudit(
  home: string,
  sessionId: string,
  { clock }: Pick<AuditOptions, 'clock'>,
): Promise<void> {
  const path = auditPath(home, sessionId)
  // Looked at first: the log of a session that ended as it should is not opened for writing.
  const { isEnded, open } = await readAuditState(path, sessionId)
  if (isEnded && open.size === 0) return
  const audit = await openAudit(home, sessionId, { clock })
  try {
    const at = toIso(clock)
    for (const id of open.keys()) {
      const state = { state: 'lapsed', reason: 'agent-gone', at } as const
      await audit.record({ kind: 'attention.settled', at, id, state })
    }
    if (!isEnded) await audit.record({ kind: 'session.ended', at, reason: 'host-gone' })
  } finally {
    await audit.close()
  }
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}
