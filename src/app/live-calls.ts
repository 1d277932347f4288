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
  OWN_NOTES,
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
import { findReady } from './archived-session.ts'
import { toAgentEnvironment } from './agent-environment.ts'
import type { AsksElsewhere } from './asks-elsewhere.ts'
import type { Board } from './board.ts'
import { findWorkdir, getWorkdir, listWorkdirs, readFolder } from './folder-report.ts'
import type { Forks } from './forks.ts'
import { endHolder } from './holders.ts'
import { readLocalSettings } from './local-settings.ts'
import type { WakeUp } from './open-live.ts'
import { recordedFolder } from './recorded-sources.ts'
import { checkInstalled, notLive, withReason } from './start-failures.ts'
import type { Leases } from './team-leases.ts'
import { checkMinute, checkOwn, toResumed, transcriptOf } from './resumed-session.ts'
import type { Config } from './throughline.ts'
import type { BeginningSession } from './wake-ups.ts'

export interface LiveCallsOptions {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
  readonly registry: Registry | undefined
  readonly get: (query: string) => Promise<SessionSummary>
  /** All that are known, the latest first. */
  readonly sessions: () => Promise<readonly SessionSummary[]>
  /** Looks at what there is on disk anew. */
  readonly look: () => Promise<void>
  readonly wakeUp?: WakeUp | undefined
  /** A session is gone on with. */
  readonly onResumed: (session: SessionSummary) => void
  readonly forks?: Forks | undefined
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
    checkInstalled(listAgents({ home, env, settings }), agent)
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
    if (request.prompt !== undefined) await sendFirst(view.sessionId, request.prompt)
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
      await roster.prompt(sessionId, { id, blocks, by: OWN_NOTES })
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

  async function sendFirst(id: string, prompt: PromptRequest): ReturnType<LiveCalls['prompt']> {
    return await withReason(board, id, async () => await send(id, prompt))
  }

  function getLive(id: string): SessionView {
    const view = find(id)
    if (view !== undefined && view.state.state !== 'ended') return view
    throw notLive(id, (view ?? board.find(id))?.state)
  }

  return {
    agents: async () => listAgents({ home, env, settings: await readLocalSettings(home) }),
    workdirs: async () => await listWorkdirs(await options.sessions(), config),
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
      if (prompt !== undefined) await sendFirst(sessionId, prompt)
      return find(sessionId) ?? view
    },
    async resume(id, request = {}) {
      const running = find(id)
      if (running !== undefined && running.state.state !== 'ended') {
        if (request.prompt !== undefined) await send(id, request.prompt)
        return find(id) ?? running
      }
      const found = await findSession(id)
      // It died before it said anything: it is begun again, with the prompts that were left.
      if (found === undefined) return await beginAgain(id, request)
      const session = await findReady(found, options)
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
      if (prompt !== undefined) await sendFirst(view.sessionId, prompt)
      return find(view.sessionId) ?? view
    },
    async fork(id, request = {}) {
      const session = await options.get(id)
      checkOwn(session)
      const { agent } = session
      const { at } = request
      const workdir = request.workdir ?? findWorkdir(session)
      if (agent === 'claude' && options.forks !== undefined) {
        // Its own copy is written with the first prompt: until then nobody could read what was said before.
        await getWorkdir(workdir, config)
        const copied = await options.forks.copy(session.id, { at, workdir: request.workdir })
        const copy = await options.get(copied.sessionId)
        const goesOn = { resume: await toResumed(copy), transcript: transcriptOf(copy, home) }
        return await begin({ sessionId: copy.id, agent, workdir, ...goesOn }, request)
      }
      const sessionId = randomUUID()
      const fork = at === undefined ? {} : { at }
      // What was said before is in the copy that the agent makes, and nowhere else.
      const copy = { resume: { sessionId: session.id, fork }, transcript: 'own' } as const
      const view = await begin({ sessionId, agent, workdir, ...copy }, request)
      await options.forks?.onForked(session, { sessionId, at })
      return view
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
      if (prompt !== undefined) await sendFirst(view.sessionId, prompt)
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

function changed(workdir: string): ThroughlineError {
  return new ThroughlineError('attention-mismatch', `${workdir} is not as it was shown`, {
    hint: 'Look at what would be loaded now, and decide again.',
  })
}
