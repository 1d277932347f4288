import { ThroughlineError } from '#base'
import { toDeviceName, toSigner } from '#model'
import {
  readAnswerRequest,
  readAskRequest,
  readFolder,
  readForkRequest,
  readModeChange,
  readModelChange,
  readPromptRequest,
  readRenewRequest,
  readResumeRequest,
  readStartRequest,
  readTrustChoice,
  type LiveCalls,
  type LiveRouteName,
} from '#wire'
import type { Caller } from './access.ts'
import type { Answer } from './answer.ts'
import type { Handler } from './handlers.ts'

const CREATED = 201
const THIS_MACHINE = 'this machine'
const ACCEPTED = 202
const CONFLICT = 409

/** The handlers of sessions that are run now. Who asks is what the daemon knows of them, never what they say. */
export function createLiveHandlers(live: LiveCalls): Readonly<Record<LiveRouteName, Handler>> {
  return {
    agents: async () => json({ agents: await live.agents() }),
    workdirs: async () => json({ workdirs: await live.workdirs() }),
    folder: async ({ query }) => json(await live.folder(readFolder({ workdir: query.get('workdir') ?? '' }))),
    trust: async ({ body, caller }) =>
      json(await live.trust(readFolder(body), { ...readTrustChoice(body), by: signerOf(caller) })),
    async start({ body, caller }) {
      return json(await live.start(signed(readStartRequest(body), caller)), CREATED)
    },
    async resume({ id, body, caller }) {
      return json(await live.resume(id, signed(readResumeRequest(body), caller)), CREATED)
    },
    async fork({ id, body, caller }) {
      return json(await live.fork(id, signed(readForkRequest(body), caller)), CREATED)
    },
    async renew({ id, body, caller }) {
      return json(await live.renew(id, signed(readRenewRequest(body), caller)), CREATED)
    },
    async end({ id }) {
      await live.end(id)
      return { kind: 'nothing' }
    },
    async interrupt({ id }) {
      await live.interrupt(id)
      return { kind: 'nothing' }
    },
    async prompt({ id, body, caller }) {
      const receipt = await live.prompt(id, { ...readPromptRequest(body), by: signerOf(caller) })
      return json(receipt, ACCEPTED)
    },
    async mode({ id, body, caller }) {
      await live.setMode(id, readModeChange(body), signerOf(caller))
      return { kind: 'nothing' }
    },
    async model({ id, body, caller }) {
      await live.setModel(id, readModelChange(body), signerOf(caller))
      return { kind: 'nothing' }
    },
    view: async ({ id }) => json(await live.view(id)),
    board: async () => json({ cards: await live.board() }),
    attentions: async () => json({ attentions: await live.attentions() }),
    async resolve({ id, body, caller }) {
      const outcome = await live.resolve({ ...readAnswerRequest(id, body), by: signerOf(caller) })
      if (outcome.kind === 'won') return json(outcome)
      const { code, message, hint } = settled()
      return json({ code, message, hint, outcome }, CONFLICT)
    },
    async ask({ body, onGone }) {
      const asked = live.ask(readAskRequest(body))
      onGone(() => asked.withdraw())
      const resolution = await asked.answer
      return json(resolution === undefined ? {} : { resolution })
    },
    audit: async ({ id }) => json(await live.audit(id)),
    audits: async () => json({ audits: await live.audits() }),
  }
}

/** The first prompt of a beginning is said by whoever asked for the beginning. */
function signed<T extends { readonly prompt?: object | undefined }>(
  request: T,
  caller: Caller | undefined,
): T & { readonly by: string } {
  const by = signerOf(caller)
  return { ...request, by, ...(request.prompt === undefined ? {} : { prompt: { ...request.prompt, by } }) }
}

/** Who decides, for the record: a device with its id, or the machine itself. */
function signerOf(caller: Caller | undefined): string {
  return caller?.kind === 'device' ? toSigner(caller.device) : THIS_MACHINE
}

/** What whoever asks is called: their device, or the machine itself. No device goes by the name of the machine. */
export function nameOf(caller: Caller | undefined): string {
  if (caller?.kind !== 'device') return THIS_MACHINE
  const name = toDeviceName(caller.device.label).trim()
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
  return plain === '' || plain === 'thismachine' ? `device ${caller.device.id}` : name
}

function settled(): ThroughlineError {
  return new ThroughlineError('attention-settled', 'this was answered before, or is over', {
    hint: 'The answer that counts is in `outcome`.',
  })
}

function json(value: object, status?: number): Answer {
  const text = JSON.stringify(value)
  return status === undefined ? { kind: 'json', text } : { kind: 'json', text, status }
}
