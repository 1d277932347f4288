import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { parseJson, ThroughlineError } from '#base'
import type { Digest, PromptAuthor, SessionOrigin, SessionSummary } from '#model'
import type { Desk } from '#store'
import type { ContinueOutcome, ContinueRequest } from '#wire'
import { readAuthorship, toAuthors, toSaidBy, type AuthorLog, type Authorship } from './author-log.ts'
import { isWithin, realPathOf } from './config.ts'
import { findRemote } from './git-remote.ts'
import type { Handoffs } from './handoffs.ts'
import { readLocalSettings } from './local-settings.ts'
import type { Team } from './open-team.ts'
import { toHeld } from './team-leases.ts'
import { askMachine } from './team-live-calls.ts'
import type { RemoteLive } from './team-live-remote.ts'
import type { Config } from './throughline.ts'
import { findMapped, findNearest } from './team-folders.ts'

/** Going on here with what was begun on another machine, and who said what in it. */
export interface Continuing {
  /**
   * Goes on here: with everything that was said, in a folder of this machine. Throws `session-held` while it is live
   * over there, and `folder-not-found` with what could be meant when its folder is not known here.
   */
  continueHere(sessionId: string, request: ContinueRequest): Promise<ContinueOutcome>
  /** Who said each prompt of a session. */
  authors(sessionId: string): Promise<readonly PromptAuthor[]>
}

export interface ContinuingOptions {
  readonly config: Config
  readonly team: Pick<Team, 'self' | 'findFile' | 'whole'>
  readonly desk: Pick<Desk, 'findLease' | 'findAuthors' | 'call' | 'putOnward'>
  readonly remote: RemoteLive
  readonly authors: AuthorLog
  readonly tellAuthors: () => Promise<void>
  readonly get: (query: string) => Promise<SessionSummary>
  /** Everything that is listed. */
  readonly sessions: () => Promise<readonly SessionSummary[]>
  readonly digest: (session: SessionSummary) => Promise<Digest>
  readonly handoffs: () => Promise<Handoffs>
  readonly now: () => number
}

const LET_GO_MS = 15_000
const QUIET_MS = 1000
const AGAIN_MS = 100
const MOST_CANDIDATES = 5

export function createContinuing(options: ContinuingOptions): Continuing {
  const { config, team, desk, remote, now } = options

  async function expectFree(session: SessionSummary, { takeOver = false }: ContinueRequest): Promise<void> {
    await remote.look().catch((cause: unknown) => {
      throw new ThroughlineError('team-unreached', 'whether the session is live cannot be asked', {
        hint: 'Go on with it when the database answers again.',
        cause,
      })
    })
    const live = remote.find(session.id)
    const isLive = live !== undefined && !live.isGone && live.card.state.state !== 'ended'
    const lease = await desk.findLease(session.id)
    if (!isLive && lease === undefined) return
    const holder = isLive ? live.from : lease?.holder
    if (holder !== undefined && !takeOver) throw toHeld(session.id, holder)
    if (isLive) await askMachine(desk, live, { do: 'end' })
    const deadline = now() + LET_GO_MS
    for (;;) {
      const left = await desk.findLease(session.id)
      if (left === undefined) break
      if (now() > deadline) throw toHeld(session.id, left.holder)
      await pause(AGAIN_MS)
    }
    if (isLive) await untilQuiet(session.path, now)
  }

  /** The folder here that is the one over there. */
  async function findFolder(
    session: SessionSummary,
    { workdir }: ContinueRequest,
  ): Promise<{ readonly workdir: string; readonly workdirFrom: ContinueOutcome['workdirFrom'] }> {
    if (workdir !== undefined) return { workdir, workdirFrom: 'given' }
    const there = session.workdirs.at(-1) ?? ''
    const { team: settings } = await readLocalSettings(config.home)
    const mapped = findMapped(there, settings.workdirs)
    if (mapped !== undefined) return { workdir: mapped, workdirFrom: 'map' }
    const known = await knownFolders()
    const remoteName = team.findFile(session.path)?.remote
    const clones = remoteName === undefined ? [] : known.filter((folder) => findRemote(folder) === remoteName)
    const clone = findNearest(there, clones)
    if (clone !== undefined) return { workdir: clone, workdirFrom: 'remote' }
    if (clones.length === 0 && remoteName === undefined && known.includes(realPathOf(there)))
      return { workdir: realPathOf(there), workdirFrom: 'same' }
    const named = known.filter((folder) => basename(folder) === basename(there))
    throw notKnown(there, clones.length > 0 ? clones : named)
  }

  async function knownFolders(): Promise<readonly string[]> {
    const { allowedRoots } = config
    const own = (await options.sessions()).filter(({ origin, demo }) => origin === undefined && demo !== true)
    const folders = new Set(
      own
        .flatMap(({ workdirs }) => workdirs)
        .filter(existsSync)
        .map(realPathOf),
    )
    return [...folders].filter((folder) => allowedRoots.length === 0 || isWithin(folder, allowedRoots))
  }

  async function authorshipOf({ id, origin }: SessionSummary): Promise<Authorship> {
    if (origin === undefined) return options.authors.of(id)
    const body = await desk.findAuthors({ origin: origin.origin, session: id })
    return readAuthorship(body === undefined ? undefined : parseJson(body.toString('utf8')))
  }

  function ownerOf({ origin }: SessionSummary): Omit<PromptAuthor, 'entryId'> {
    const { person = '', machine = '' }: Partial<Pick<SessionOrigin, 'person' | 'machine'>> =
      origin ?? team.self() ?? {}
    return { person, machine }
  }

  return {
    async continueHere(sessionId, request) {
      const session = await options.get(sessionId)
      if (session.origin === undefined) {
        throw new ThroughlineError('request-invalid', `session ${session.id} is on this machine`, {
          hint: 'Resume it: `throughline resume`.',
        })
      }
      await expectFree(session, request)
      const { workdir, workdirFrom } = await findFolder(session, request)
      await team.whole(session.path)
      const { outline } = await options.digest(session)
      const authors = toAuthors(outline, await authorshipOf(session), ownerOf(session))
      const outcome = await (await options.handoffs()).goOn(session, { workdir, to: request.to })
      await options.authors.addInherited(outcome.sessionId, toSaidBy(outline, authors))
      // Whoever goes on from here wants to know, too. What the database does not take now, it is told later.
      await options.tellAuthors().catch(() => {})
      const to = { session: outcome.sessionId, agent: outcome.agent }
      const { origin, id, agent } = session
      await desk.putOnward({ origin: origin.origin, session: id, agent, to }).catch(() => {})
      return { ...outcome, workdirFrom }
    },
    async authors(sessionId) {
      const session = await options.get(sessionId)
      if (session.path === '') return []
      const { outline } = await options.digest(session)
      return toAuthors(outline, await authorshipOf(session), ownerOf(session))
    },
  }
}

/** What was said last over there is on its way. */
async function untilQuiet(path: string, now: () => number): Promise<void> {
  const sizeOf = (): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const deadline = now() + LET_GO_MS
  let size = sizeOf()
  for (let since = now(); now() - since < QUIET_MS && now() < deadline;) {
    await pause(AGAIN_MS)
    if (sizeOf() === size) continue
    size = sizeOf()
    since = now()
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

function notKnown(there: string, candidates: readonly string[]): ThroughlineError {
  const few = candidates.slice(0, MOST_CANDIDATES)
  return new ThroughlineError('folder-not-found', `which folder here ${there} is, is not known`, {
    hint: `Name it: --workdir ${few.length === 0 ? '<folder>' : few.join(', or ')}. Or say it once for all: team.workdirs in config.json.`,
  })
}
