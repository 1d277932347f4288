import { field, object, parseJson, ThroughlineError } from '#base'
import { readOutcome, readReceipt, toError, type HostCommand } from '#live'
import type { AnswerOutcome, SessionOrigin, SessionView } from '#model'
import type { Desk } from '#store'
import type { AnswerRequest, LiveCalls } from '#wire'
import type { RemoteLive, RemoteSession } from './team-live-remote.ts'

export interface TeamLiveCallsOptions {
  readonly local: LiveCalls
  /** A session that is live on this machine. */
  readonly find: (id: string) => SessionView | undefined
  readonly remote: RemoteLive
  readonly desk: Pick<Desk, 'call'>
}

/** Asks the machine that runs a session. Who says it is found out by the database, and written by that machine. */
export async function askMachine(
  desk: Pick<Desk, 'call'>,
  { card, from, isGone }: RemoteSession,
  command: HostCommand,
): Promise<unknown> {
  if (isGone) throw unheard(from)
  // How something ended that was asked, its machine still knows.
  if (card.state.state === 'ended' && command.do !== 'resolve') throw over(card.sessionId)
  const body = Buffer.from(JSON.stringify(command), 'utf8')
  const answer = await desk.call({ origin: from.origin, session: card.sessionId, body })
  const said = parseJson(answer.toString('utf8'))
  const error = object(said, 'error')
  if (error !== undefined) throw toError(error)
  return field(said, 'value')
}

/** The same calls, also on sessions that other machines run: those are asked, and their answer is the answer. */
export function createTeamLiveCalls({ local, find, remote, desk }: TeamLiveCallsOptions): LiveCalls {
  /** Where a session is that is not live here. */
  function there(id: string): RemoteSession | undefined {
    return find(id) === undefined ? remote.find(id) : undefined
  }

  const ask = (session: RemoteSession, command: HostCommand): Promise<unknown> =>
    askMachine(desk, session, command)

  /** The session on another machine that opened this attention. */
  function findAsking(attention: string): RemoteSession | undefined {
    const found = remote.findAsking(attention)
    return found !== undefined && find(found.card.sessionId) === undefined ? found : undefined
  }

  async function resolveThere(session: RemoteSession, answer: AnswerRequest): Promise<AnswerOutcome> {
    const { id, hash, resolution } = answer
    return readOutcome(await ask(session, { do: 'resolve', answer: { id, hash, resolution, by: '' } }))
  }

  function expectHere(id: string | undefined): void {
    const found = id === undefined ? undefined : there(id)
    if (found === undefined || (found.isGone && found.card.state.state === 'ended')) return
    throw elsewhere(found.from)
  }

  return {
    ...local,
    async start(request) {
      expectHere(request.sessionId)
      return await local.start(request)
    },
    async resume(id, request) {
      expectHere(id)
      return await local.resume(id, request)
    },
    async fork(id, request) {
      expectHere(id)
      return await local.fork(id, request)
    },
    async renew(id, request) {
      expectHere(id)
      return await local.renew(id, request)
    },
    async end(id) {
      const session = there(id)
      await (session === undefined ? local.end(id) : ask(session, { do: 'end' }))
    },
    async interrupt(id) {
      const session = there(id)
      await (session === undefined ? local.interrupt(id) : ask(session, { do: 'interrupt' }))
    },
    async prompt(id, prompt) {
      const session = there(id)
      if (session === undefined) return await local.prompt(id, prompt)
      const { by: _said, ...rest } = prompt
      return readReceipt(await ask(session, { do: 'prompt', prompt: { ...rest, by: '' } }))
    },
    async setMode(id, mode, by) {
      const session = there(id)
      if (session === undefined) await local.setMode(id, mode, by)
      else await ask(session, { do: 'mode', mode, by: '' })
    },
    async setModel(id, model, by) {
      const session = there(id)
      if (session === undefined) await local.setModel(id, model, by)
      else await ask(session, { do: 'model', model, by: '' })
    },
    async view(id) {
      return await (there(id) === undefined ? local.view(id) : remote.view(id))
    },
    async attentions() {
      const all = [...(await local.attentions()), ...remote.attentions()]
      return all.toSorted((a, b) => (a.openedAt < b.openedAt ? -1 : 1))
    },
    async resolve(answer) {
      const known = findAsking(answer.id)
      if (known !== undefined) return await resolveThere(known, answer)
      try {
        return await local.resolve(answer)
      } catch (error) {
        if (!(error instanceof ThroughlineError) || error.code !== 'attention-not-found') throw error
        // It may have been opened on another machine since the database was last read.
        await remote.look().catch(() => {})
        const found = findAsking(answer.id)
        if (found === undefined) throw error
        return await resolveThere(found, answer)
      }
    },
  }
}

function elsewhere({ machine, person, mine }: SessionOrigin): ThroughlineError {
  const whose = mine ? `your machine ${machine}` : `${machine} of ${person}`
  return new ThroughlineError('request-invalid', `this session is on ${whose}`, {
    hint: 'Talk to it from here as it is, or go on with it on this machine: `throughline continue`.',
  })
}

function unheard({ machine, person }: SessionOrigin): ThroughlineError {
  return new ThroughlineError('team-unreached', `nothing was heard of ${machine} of ${person} for a while`, {
    hint: 'It is off, or has no connection to the database. Nothing was sent.',
  })
}

function over(session: string): ThroughlineError {
  return new ThroughlineError('session-ended', `session ${session} is over on its machine`, {
    hint: 'Go on with it on this machine: `throughline continue`.',
  })
}
