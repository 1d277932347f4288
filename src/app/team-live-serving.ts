import { randomUUID } from 'node:crypto'
import { parseJson, isObject, ThroughlineError } from '#base'
import { checkMode, findHostCommand, fromError } from '#live'
import type { Attention, Resolution, SessionOrigin } from '#model'
import type { Desk, TakenCall } from '#store'
import type { LiveCalls } from '#wire'
import type { Board } from './board.ts'
import { isShownWhole, type Mask } from './team-live-masking.ts'

/** Carries out what other machines ask of the sessions of this one. */
export interface LiveServing {
  /** Looks whether something is asked. */
  look(): Promise<void>
  close(): Promise<void>
}

export interface LiveServingOptions {
  readonly desk: Pick<Desk, 'take' | 'answer'>
  readonly board: Board
  readonly calls: Pick<LiveCalls, 'prompt' | 'resolve' | 'interrupt' | 'end' | 'setMode' | 'setModel'>
  readonly mask: Mask
  /** From whom the person at this machine takes anything, whatever was shared. */
  readonly callsFrom: () => Promise<'shared' | 'own' | 'nobody'>
  /** Somebody else has said something in a session. */
  readonly onSaid: (said: {
    readonly session: string
    readonly from: SessionOrigin
    readonly text: string
  }) => Promise<void>
}

/** Attentions whose session is remembered, for answers that come late. */
const ASKED_KEPT = 1000
const CARRIED_KEPT = 10_000

type Carried =
  | { readonly state: 'busy' | 'told'; readonly said?: undefined }
  | { readonly state: 'done'; readonly said: Buffer }

/**
 * Each call once: the database gives it to one run of one machine, and what came of it is kept until it has it. A call
 * that an earlier run took up is told to be in doubt, and never carried out again.
 */
export function createLiveServing(options: LiveServingOptions): LiveServing {
  const { desk, board, calls, mask } = options
  const run = randomUUID()
  const carried = new Map<string, Carried>()
  const askedIn = new Map<string, string>()
  const under = new Set<Promise<void>>()
  let isClosed = false

  const stop = board.listen((change) => {
    if (change.kind === 'changed' && change.card.origin === undefined)
      for (const { id } of change.card.attentions) remember(id, change.card.sessionId)
  })
  for (const { origin, sessionId, attentions } of board.list())
    if (origin === undefined) for (const { id } of attentions) remember(id, sessionId)

  function remember(attention: string, sessionId: string): void {
    askedIn.delete(attention)
    askedIn.set(attention, sessionId)
    for (const oldest of [...askedIn.keys()].slice(0, Math.max(0, askedIn.size - ASKED_KEPT)))
      askedIn.delete(oldest)
  }

  /** What came of a call, until the database has it. Its name stays: a look may have been under way meanwhile. */
  async function serve(call: TakenCall): Promise<void> {
    const known = carried.get(call.id)
    if (known?.state === 'busy' || known?.state === 'told') return
    const said = known?.said ?? (await begin(call))
    carried.set(call.id, { state: 'busy' })
    try {
      await desk.answer(call.id, said)
      carried.set(call.id, { state: 'told' })
    } catch {
      // It is still taken there, and comes again.
      carried.set(call.id, { state: 'done', said })
    }
    for (const oldest of [...carried.keys()].slice(0, Math.max(0, carried.size - CARRIED_KEPT)))
      carried.delete(oldest)
  }

  async function begin(call: TakenCall): Promise<Buffer> {
    carried.set(call.id, { state: 'busy' })
    return await reply(call)
  }

  async function reply(call: TakenCall): Promise<Buffer> {
    try {
      return toBytes({ value: (await carryOut(call)) ?? null })
    } catch (error) {
      const { code, message, hint } = fromError(error)
      return toBytes({ error: { code, message, hint } })
    }
  }

  async function carryOut({ session, body, from }: TakenCall): Promise<unknown> {
    await expectWelcome(from)
    const by = nameOf(from)
    const command = findHostCommand(withAuthor(parseJson(body.toString('utf8')), by))
    if (command === undefined || command.do === 'hello' || command.do === 'listen') throw notUnderstood()
    const card = board.find(session)
    if (card === undefined || card.origin !== undefined) throw notHere(session)
    switch (command.do) {
      case 'prompt': {
        const receipt = await calls.prompt(session, command.prompt)
        const text = command.prompt.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []))
        await options.onSaid({ session, from, text: text.join('\n\n') })
        return receipt
      }
      case 'resolve': {
        const { answer } = command
        if (askedIn.get(answer.id) !== session) throw notAsked()
        const open = card.attentions.find(({ id }) => id === answer.id)
        if (open !== undefined) checkConsent(open, answer.resolution, from)
        return await calls.resolve(answer)
      }
      case 'interrupt':
        return await calls.interrupt(session)
      case 'end':
        return await calls.end(session)
      case 'mode':
        // Others may have more asked, and never less.
        if (!from.mine) checkMode(command.mode, card.mode ?? 'default')
        return await calls.setMode(session, command.mode, by)
      case 'model':
        return await calls.setModel(session, command.model, by)
    }
  }

  async function expectWelcome(from: SessionOrigin): Promise<void> {
    const whom = await options.callsFrom()
    if (whom === 'shared' || (whom === 'own' && from.mine)) return
    throw new ThroughlineError(
      'not-allowed',
      'the machine that runs this session takes nothing from elsewhere',
      {
        hint: 'Its person can change that: `team.calls` in config.json there.',
      },
    )
  }

  /** Nobody agrees to what they cannot see, and nobody but its owner for longer than this session. */
  function checkConsent({ ask }: Attention, resolution: Resolution, from: SessionOrigin): void {
    if (resolution.kind === 'deny') return
    if (!isShownWhole(ask, mask)) {
      throw new ThroughlineError('not-allowed', 'not all of what is asked is shown on other machines', {
        hint: 'Deny it from here, or answer it on the machine that asks.',
      })
    }
    if (from.mine || resolution.kind !== 'allow' || ask.kind !== 'permission') return
    const always = new Set(ask.rules.filter(({ scope }) => scope === 'always').map(({ id }) => id))
    if (!resolution.rules.some((rule) => always.has(rule))) return
    throw new ThroughlineError('not-allowed', 'only its owner may allow something for good', {
      hint: 'Allow it once, or for this session.',
    })
  }

  return {
    async look() {
      const { calls: taken, lost } = await desk.take(run)
      if (isClosed) return
      for (const id of lost) await desk.answer(id, toBytes({ error: LOST }))
      for (const call of taken) {
        const serving = serve(call)
        under.add(serving)
        void serving.finally(() => under.delete(serving))
      }
    },
    async close() {
      isClosed = true
      stop()
      await Promise.all(under)
    },
  }
}

const LOST = {
  code: 'team-unreached',
  message: 'the machine was started again while it did this: whether it was done is not known',
  hint: 'Look at the session again before you repeat it.',
}

/** Who says something from another machine, as it stands in the journal and in the audit. */
function nameOf({ person, machine }: SessionOrigin): string {
  return `${person} on ${machine}`
}

/** Whoever it says it is from, it is from whom the database says. */
function withAuthor(value: unknown, by: string): unknown {
  if (!isObject(value)) return undefined
  const { prompt, answer } = value
  return {
    ...value,
    by,
    ...(isObject(prompt) ? { prompt: { ...prompt, by } } : {}),
    ...(isObject(answer) ? { answer: { ...answer, by } } : {}),
  }
}

function toBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8')
}

function notUnderstood(): ThroughlineError {
  return new ThroughlineError('request-invalid', 'what was asked of this machine is not understood', {
    hint: 'All machines of a team want the same version of Throughline.',
  })
}

function notHere(session: string): ThroughlineError {
  return new ThroughlineError('session-ended', `session ${session} is not live on this machine`, {
    hint: 'Look at the board again.',
  })
}

function notAsked(): ThroughlineError {
  return new ThroughlineError('attention-not-found', 'nothing like this is asked in this session', {
    hint: 'Look at what is open again.',
  })
}
