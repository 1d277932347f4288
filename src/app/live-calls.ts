import { randomUUID } from 'node:crypto'
import { ThroughlineError } from '#base'
import {
  createTrust,
  findSessionJournal,
  listAudits,
  readAudit,
  readSessionJournal,
  type HostOrder,
  type Roster,
} from '#live'
import {
  textOf,
  type Answer,
  type AnswerOutcome,
  type Block,
  type SessionSummary,
  type SessionView,
} from '#model'
import type { Registry } from '#sources'
import type { FolderReport, LiveCalls, PromptRequest, RenewRequest, ResumeRequest, RunRequest } from '#wire'
import { listAgents } from './agent-offers.ts'
import { toAgentEnvironment } from './agent-environment.ts'
import type { AsksElsewhere } from './asks-elsewhere.ts'
import type { Board } from './board.ts'
import { findWorkdir, getWorkdir, readFolder } from './folder-report.ts'
import { endHolder } from './holders.ts'
import { readLocalSettings } from './local-settings.ts'
import type { WakeUp } from './open-live.ts'
import { recordedFolder } from './recorded-sources.ts'
import type { Leases } from './team-leases.ts'
import { checkMinute, toResumed, transcriptOf } from './resumed-session.ts'
import type { Config } from './throughline.ts'
import type { BeginningSession } from './wake-ups.ts'

export interface LiveCallsOptions {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
  readonly registry: Registry | undefined
  readonly get: (query: string) => Promise<SessionSummary>
  /** Looks at what there is on disk anew. */
  readonly look: () => Promise<void>
  readonly wakeUp?: WakeUp | undefined
  /** A session is gone on with. */
  readonly onResumed: (session: SessionSummary) => void
  readonly roster: Roster
  readonly board: Board
  readonly asks: AsksElsewhere
  /** Which machine of a team holds which session; not there without a team. */
  readonly leases?: Leases | undefined
  /** By our id, or by the one that its agent took. */
  readonly find: (id: string) => SessionView | undefined
  readonly resolve: (answer: Answer) => Promise<AnswerOutcome>
}

const SOMEBODY = 'this machine'

/** The calls on live sessions, around a roster. */
export function createLiveCalls(options: LiveCallsOptions): LiveCalls {
  const { config, env, now, registry, roster, board, asks, find } = options
  const { home } = config

  async function folder(workdir: string): Promise<FolderReport> {
    const trust = createTrust({ home, now })
    return await readFolder(await getWorkdir(workdir, config), { trust, config })
  }

  type Beginning = Pick<HostOrder, 'sessionId' | 'agent' | 'workdir' | 'resume' | 'transcript'>

  async function begin(
    beginning: Beginning,
    request: RunRequest & Pick<ResumeRequest, 'takeOver'>,
  ): Promise<SessionView> {
    const { sessionId, resume } = beginning
    const held = [sessionId, ...(resume === undefined || resume.fork ? [] : [resume.sessionId])]
    await options.leases?.take(held, { takeOver: request.takeOver === true })
    try {
      return await run(beginning, request)
    } catch (error) {
      await options.leases?.release(held)
      throw error
    }
  }

  async function run(beginning: Beginning, request: RunRequest): Promise<SessionView> {
    const { agent } = beginning
    const settings = await readLocalSettings(home)
    const { workdir, trust, settings: loaded } = await folder(beginning.workdir)
    const isTrusted = trust === 'trusted' || trust === 'nothing-to-load'
    const view = await roster.start({
      ...beginning,
      workdir,
      settings: { transcripts: recordedFolder(home, agent), ...settings.agents[agent] },
      mode: request.mode,
      widest: settings.widestMode,
      model: request.model,
      // Where nothing is, nothing is loaded.
      trusted: isTrusted,
      folderHash: isTrusted ? loaded.hash : undefined,
      env: toAgentEnvironment(env),
      idleMs: settings.idleMs,
      orphanMs: settings.orphanMs,
      deadlineMs: settings.attentionMs,
    })
    if (request.prompt !== undefined) await send(view.sessionId, request.prompt)
    return find(view.sessionId) ?? view
  }

  /** Says what the session is to know, before anything else. It begins without, when that cannot be composed. */
  async function wake(beginning: BeginningSession, { wakeUp }: Pick<RenewRequest, 'wakeUp'>): Promise<void> {
    if (wakeUp === false) return
    const { sessionId, goesOn } = beginning
    // The id follows from the session's: a start that is asked for again says it once.
    const id = goesOn === true ? `wake-${randomUUID()}` : `wake-${sessionId}`
    try {
      const text = await options.wakeUp?.(beginning)
      if (text === undefined) return
      const blocks: readonly Block[] = [{ kind: 'text', text }]
      await roster.prompt(sessionId, { id, blocks, by: 'throughline' })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      board.mark(sessionId, `It began without what earlier sessions knew: ${why}`)
    }
  }

  /** The session, or nothing when there is no transcript of it but a journal. */
  async function findSession(id: string): Promise<SessionSummary | undefined> {
    try {
      return await options.get(id)
    } catch (error) {
      if (!(error instanceof ThroughlineError) || error.code !== 'session-not-found') throw error
      // What was written a moment ago may not be known yet.
      await options.look()
      const found = await options.get(id).catch(() => undefined)
      if (found !== undefined || (await findSessionJournal(home, id)) !== undefined) return found
      throw error
    }
  }

  async function beginAgain(id: string, request: RunRequest): Promise<SessionView> {
    const { started } = await readSessionJournal((await findSessionJournal(home, id)) ?? '')
    if (started !== undefined) {
      const { agent, workdir } = started
      return await begin({ sessionId: id, agent, workdir }, request)
    }
    throw new ThroughlineError('session-not-found', `nothing is known of session ${id}`, {
      hint: 'Begin a new one.',
    })
  }

  async function send(id: string, prompt: PromptRequest): ReturnType<LiveCalls['prompt']> {
    return await roster.prompt(getLive(id).sessionId, { ...prompt, by: prompt.by ?? SOMEBODY })
  }

  function getLive(id: string): SessionView {
    const view = find(id)
    if (view !== undefined && view.state.state !== 'ended') return view
    const { message, hint = 'Resume it, or begin a new one.' } =
      view?.state.state === 'ended' ? view.state : { message: undefined }
    const why = message === undefined ? '' : `: ${message}`
    throw new ThroughlineError('session-ended', `session ${id} is not live${why}`, { hint })
  }

  return {
    agents: async () => listAgents({ home, env, settings: await readLocalSettings(home) }),
    folder,
    async trust(workdir, { hash, trusted, by = SOMEBODY }) {
      const real = await getWorkdir(workdir, config)
      const trust = createTrust({ home, now })
      const report = await readFolder(real, { trust, config })
      if (!trusted) await trust.revoke(real, by)
      else if (report.settings.hash === hash) await trust.trust(real, hash, by)
      else throw changed(real)
      return await readFolder(real, { trust, config })
    },
    async start(request) {
      const { agent, sessionId = randomUUID() } = request
      const running = find(sessionId)
      // Asked for again by somebody who did not hear the answer.
      if (running?.agent === agent) {
        if (request.prompt !== undefined) await send(sessionId, request.prompt)
        return find(sessionId) ?? running
      }
      const beginning = { sessionId, agent, workdir: request.workdir }
      const { prompt, ...rest } = request
      const view = await begin(beginning, rest)
      const { previousTranscript } = request
      await wake(
        { ...beginning, workdir: view.workdir, previousTranscript, prompt: wordsOf(prompt) },
        request,
      )
      if (prompt !== undefined) await send(sessionId, prompt)
      return find(sessionId) ?? view
    },
    async resume(id, request = {}) {
      const running = find(id)
      if (running !== undefined && running.state.state !== 'ended') {
        if (request.prompt !== undefined) await send(id, request.prompt)
        return find(id) ?? running
      }
      const session = await findSession(id)
      // It died before it said anything: it is begun again, with the prompts that were left.
      if (session === undefined) return await beginAgain(id, request)
      checkOwn(session)
      checkMinute(session, now())
      const workdir = request.workdir ?? findWorkdir(session)
      if (request.takeOver === true) await endHolder(registry, session.id)
      const beginning = { sessionId: session.id, agent: session.agent, workdir }
      const { prompt, ...rest } = request
      const goesOn = { resume: await toResumed(session), transcript: transcriptOf(session, home) }
      options.onResumed(session)
      const view = await begin({ ...beginning, ...goesOn }, rest)
      await wake({ ...beginning, workdir: view.workdir, goesOn: true, prompt: wordsOf(prompt) }, {})
      if (prompt !== undefined) await send(view.sessionId, prompt)
      return find(view.sessionId) ?? view
    },
    async fork(id, request = {}) {
      const session = await options.get(id)
      checkOwn(session)
      const workdir = request.workdir ?? findWorkdir(session)
      const fork = request.at === undefined ? {} : { at: request.at }
      const beginning = { sessionId: randomUUID(), agent: session.agent, workdir }
      // What was said before is in the copy that the agent makes, and nowhere else.
      const copy = { resume: { sessionId: session.id, fork }, transcript: 'own' } as const
      return await begin({ ...beginning, ...copy }, request)
    },
    async renew(id, request = {}) {
      const { agent, workdir, model, mode, sessionId, agentSessionId, turn } = getLive(id)
      const told = (turn?.messages ?? []).flatMap((message) => message.id ?? [])
      await roster.command(sessionId, { do: 'end' })
      const beginning = { sessionId: randomUUID(), agent, workdir }
      const { prompt, ...rest } = request
      const view = await begin(beginning, { model, mode, ...rest })
      const before = { after: sessionId, afterAs: agentSessionId, told }
      await wake({ ...beginning, ...before, prompt: wordsOf(prompt) }, request)
      if (prompt !== undefined) await send(view.sessionId, prompt)
      return find(view.sessionId) ?? view
    },
    async end(id) {
      await roster.command(getLive(id).sessionId, { do: 'end' })
    },
    async interrupt(id) {
      await roster.command(getLive(id).sessionId, { do: 'interrupt' })
    },
    prompt: send,
    async setMode(id, mode, by = SOMEBODY) {
      await roster.command(getLive(id).sessionId, { do: 'mode', mode, by })
    },
    async setModel(id, model, by = SOMEBODY) {
      await roster.command(getLive(id).sessionId, { do: 'model', model, by })
    },
    view: async (id) => getLive(id),
    board: async () => board.list(),
    attentions: async () =>
      [...roster.attentions(), ...asks.attentions()].toSorted((a, b) => (a.openedAt < b.openedAt ? -1 : 1)),
    resolve: async (answer) => await options.resolve({ ...answer, by: answer.by ?? SOMEBODY }),
    audit: async (id) => await readAudit(home, id),
    audits: async () => await listAudits(home),
    ask: (request) => asks.ask(request),
  }
}

function wordsOf(prompt: PromptRequest | undefined): string | undefined {
  const words = textOf(prompt?.blocks ?? []).trim()
  return words === '' ? undefined : words
}

function checkOwn({ id, demo, recorded, origin }: SessionSummary): void {
  if (origin !== undefined) {
    throw new ThroughlineError(
      'request-invalid',
      `session ${id} is on ${origin.machine} of ${origin.person}`,
      {
        hint: 'Go on with it on this machine: `throughline continue`.',
      },
    )
  }
  if (recorded !== undefined) {
    throw new ThroughlineError('request-invalid', `session ${id} was recorded: its agent does not know it`, {
      hint: 'Begin a session in the same folder: it wakes up with what was said in this one.',
    })
  }
  if (demo !== true) return
  throw new ThroughlineError('request-invalid', `session ${id} is a sample: no agent knows it`, {
    hint: 'Begin a session of your own.',
  })
}

function changed(workdir: string): ThroughlineError {
  return new ThroughlineError('attention-mismatch', `${workdir} is not as it was shown`, {
    hint: 'Look at what would be loaded now, and decide again.',
  })
}
