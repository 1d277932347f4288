import { list } from '#base'
import { promoteDirective, toPlace, toPlaces, type Documents, type SaidDirective } from '#memory'
import {
  isCopied,
  parseDirectives,
  type Entry,
  type Provenance,
  type ReplyEntry,
  type SessionSummary,
} from '#model'
import type { IndexedHit, SessionIndex } from '#ingest'
import { bindFiles } from './bound-files.ts'
import type { Keeper } from './keeper.ts'
import type { FilesOptions } from './memory-files.ts'
import { readPage } from './page.ts'
import { IMPORTED } from './recorded-sources.ts'
import { toAnswers, TURN_ENTRIES } from './turn-answers.ts'
import { findForeignOrigin } from './word-origin.ts'

/** Reads what agents say and keeps what they ask to be kept, once for ever. */
export interface Promotions {
  /** Resolves when everything that is indexed so far has been looked at. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface PromotionsOptions {
  readonly keeper: Keeper
  readonly documents: Documents
  readonly config: FilesOptions['config']
  /** Whether what is asked for in a session counts. */
  readonly believes: (session: SessionSummary) => boolean
  readonly now: () => number
  /** Whether a person has to approve what agents remember before it counts. */
  readonly review: () => Promise<'off' | 'agent'>
  /** What the person at this machine calls an agent. */
  readonly agentName: (agent: string) => Promise<string | undefined>
  /** What could not be kept, for a person. */
  readonly onProblem: (message: string) => void
}

/** Every reply in which an agent may ask for something. */
const ASKING = 'has:directive kind:reply in:said'
const PAGE = 200
/** Copies of copies that are followed. */
const DEEPEST = 50

/** A reply in which an agent may ask for something, and how to read what stands before it. */
interface Asking {
  readonly session: SessionSummary
  readonly where: { readonly subagent?: string; readonly before: string }
  readonly entry: ReplyEntry
}

/** Follows every session and promotes. Only the process that keeps the index does. */
export function createPromotions(options: PromotionsOptions): Promotions {
  const { keeper, documents } = options
  /** Ids of copied entries, and what they were copied from. */
  const origins = new Map<string, string>()
  const places = new Set(toPlaces(documents))
  let work: Promise<void> = Promise.resolve()
  let isClosed = false
  let stop: (() => void) | undefined

  /** One after the other: two copies of a line must not both be the first. */
  function then(next: () => Promise<void>): void {
    work = follow(work, next)
  }

  async function follow(before: Promise<void>, next: () => Promise<void>): Promise<void> {
    await before
    if (isClosed) return
    try {
      await next()
    } catch (error) {
      options.onProblem(`What an agent asked to be remembered could not be kept: ${String(error)}.`)
    }
  }

  async function begin(): Promise<void> {
    const index = await keeper.opening
    if (index === undefined || isClosed) return
    const watch = index.watch(ASKING, {
      onHit: (hit) => then(async () => await promoteAll(await readAsking(hit))),
      onReset: () => then(() => lookAtAll(index)),
      onCaughtUp: () => {},
    })
    stop = () => watch.close()
    then(() => lookAtAll(index))
  }

  /** What was said before anybody listened, and what an index says that was built anew. */
  async function lookAtAll(index: SessionIndex): Promise<void> {
    await index.settled()
    const hits: IndexedHit[] = []
    let page = await index.search({ q: ASKING, limit: PAGE })
    hits.push(...page.hits)
    while (page.next !== undefined) {
      page = await index.search({ q: ASKING, limit: PAGE, cursor: page.next })
      hits.push(...page.hits)
    }
    // The oldest first. What was copied is known of all of them before the first is kept.
    const asking: Asking[] = []
    for (const hit of hits.toReversed()) if (!isClosed) asking.push(...(await readAsking(hit)))
    await promoteAll(asking)
  }

  async function promoteAll(asking: readonly Asking[]): Promise<void> {
    for (const one of asking) if (!isClosed) await promoteFrom(one)
  }

  /** The reply that a hit is in, when it still is and counts. */
  async function readAsking(hit: IndexedHit): Promise<readonly Asking[]> {
    const session = keeper.sessionOf(hit.path)
    if (session === undefined || session.demo === true || !options.believes(session)) return []
    // What was remembered there came along as documents.
    if (session.agent === IMPORTED) return []
    const { subagent, entry: found } = hit
    const where = { ...(subagent === undefined ? {} : { subagent }), before: found.cursor }
    const [entry] = (await entriesOf(session, { ...where, limit: 1 })).toReversed()
    if (entry?.id !== found.id || entry.kind !== 'reply' || entry.synthetic || entry.apiError) return []
    // It was asked in the session that this one is a copy of.
    if (isCopied(session, entry.at)) return []
    if (entry.forkedFrom !== undefined) origins.set(entry.id, entry.forkedFrom.entryId)
    return [{ session, where, entry }]
  }

  async function promoteFrom({ session, where, entry }: Asking): Promise<void> {
    const asked = toAsked(entry, session.id, originOf(entry))
    const fresh = asked.filter(({ provenance }) => !places.has(toPlace(provenance)))
    if (fresh.length === 0) return
    const toolTexts = toAnswers(await entriesOf(session, { ...where, limit: TURN_ENTRIES }))
    const workdir = entry.cwd ?? session.workdirs[0]
    const [review, agentName] = [await options.review(), await options.agentName(session.agent)]
    for (const { directive, provenance, before } of fresh) {
      const files = await bindFiles(
        list(directive.payload, 'files').filter((path) => typeof path === 'string'),
        { workdir, config: options.config },
      )
      const said: SaidDirective = {
        directive,
        provenance,
        messageId: provenance.entryId,
        agent: session.agent,
        agentName,
        at: entry.at,
        workdir,
        files,
        toolTexts,
        origin: await findForeignOrigin(
          session,
          { entryId: entry.id, subagent: where.subagent, at: entry.at },
          directive.content,
        ),
        before,
      }
      const { outcome } = await promoteDirective(documents, said, { now: options.now(), review })
      if (outcome !== 'refused') places.add(toPlace(provenance))
    }
  }

  /** A copy of a copy goes back to the first. */
  function originOf({ id, forkedFrom }: ReplyEntry): string {
    let origin = forkedFrom?.entryId ?? id
    for (let depth = 0; depth < DEEPEST; depth++) origin = origins.get(origin) ?? origin
    return origin
  }

  const beginning = begin().catch((error: unknown) => {
    options.onProblem(`What agents ask to be remembered is not followed: ${String(error)}.`)
  })

  return {
    async settled() {
      await beginning
      // Looking at one thing may bring another.
      let last: Promise<void> | undefined
      while (last !== work) {
        last = work
        await last
      }
    },
    async close() {
      isClosed = true
      stop?.()
      await beginning
      await work
    },
  }
}

/** The directives of a reply, each with its place. */
function toAsked(
  entry: ReplyEntry,
  sessionId: string,
  entryId: string,
): readonly (Pick<SaidDirective, 'directive' | 'before'> & { readonly provenance: Provenance })[] {
  const all = entry.blocks.flatMap((block, number) =>
    block.kind === 'text'
      ? parseDirectives(block.text).directives.map((directive) => ({
          directive,
          provenance: { sessionId, entryId, block: number, position: directive.start },
        }))
      : [],
  )
  return all.map((asked, before) => ({ ...asked, before }))
}

async function entriesOf(
  session: SessionSummary,
  request: { readonly subagent?: string; readonly before: string; readonly limit: number },
): Promise<readonly Entry[]> {
  const { readings } = await readPage(session, { ...request, raw: false })
  return readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
}
