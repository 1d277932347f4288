import { field, isObject, list, ThroughlineError } from '#base'
import type { AnswerOutcome, Attention, AuditReport, PromptReceipt, Resolution, SessionView } from '#model'
import type { AgentOffer, AuditFile, BoardCard, FolderReport, KnownWorkdir, LiveCalls } from '#wire'
import { expectShape, type Rest } from './rest.ts'

/** The calls on live sessions, over REST. */
export function createRemoteLive(rest: Rest): LiveCalls {
  const post = (path: string, body: object = {}): Promise<unknown> => rest.send('POST', path, body)
  return {
    agents: async () => rows<AgentOffer>(await rest.get('/api/agents'), 'agents', 'agent'),
    workdirs: async () => rows<KnownWorkdir>(await rest.get('/api/workdirs'), 'workdirs', 'workdir'),
    folder: async (workdir) => toFolder(await rest.get('/api/folder', { workdir })),
    trust: async (workdir, choice) => toFolder(await post('/api/folder', { workdir, ...choice })),
    start: async (request) => toView(await post('/api/sessions', request)),
    resume: async (id, request) => toView(await post(at(id, '/resume'), request)),
    fork: async (id, request) => toView(await post(at(id, '/fork'), request)),
    renew: async (id, request) => toView(await post(at(id, '/renew'), request)),
    async end(id) {
      await post(at(id, '/end'))
    },
    async interrupt(id) {
      await post(at(id, '/interrupt'))
    },
    prompt: async (id, prompt) =>
      expectShape<PromptReceipt>(await post(at(id, '/prompts'), prompt), 'id', 'state'),
    async setMode(id, mode) {
      await post(at(id, '/mode'), { mode })
    },
    async setModel(id, model) {
      await post(at(id, '/model'), { model })
    },
    view: async (id) => toView(await rest.get(at(id, '/live'))),
    board: async () => rows<BoardCard>(await rest.get('/api/board'), 'cards', 'sessionId'),
    attentions: async () => rows<Attention>(await rest.get('/api/attentions'), 'attentions', 'id'),
    async resolve({ id, hash, resolution }) {
      try {
        const path = `/api/attentions/${encodeURIComponent(id)}/resolution`
        return toOutcome(await post(path, { hash, resolution }))
      } catch (error) {
        if (!(error instanceof ThroughlineError) || error.code !== 'attention-settled') throw error
        return toOutcome(field(error.cause, 'outcome'))
      }
    },
    audit: async (id) =>
      expectShape<AuditReport>(await rest.get(at(id, '/audit')), 'sessionId', 'entries', 'verdict'),
    audits: async () => rows<AuditFile>(await rest.get('/api/audits'), 'audits', 'sessionId'),
    ask(request) {
      const gone = new AbortController()
      return {
        answer: rest.send('POST', '/api/asks', request, gone.signal).then(toResolution),
        withdraw: () => gone.abort(),
      }
    },
  }
}

function at(id: string, what: string): string {
  return `/api/sessions/${encodeURIComponent(id)}${what}`
}

function rows<T extends object>(body: unknown, key: string, has: keyof T & string): readonly T[] {
  return list(body, key).map((row) => expectShape<T>(row, has))
}

function toFolder(value: unknown): FolderReport {
  return expectShape<FolderReport>(value, 'workdir', 'trust', 'settings')
}

function toView(value: unknown): SessionView {
  return expectShape<SessionView>(value, 'sessionId', 'run', 'state', 'prompts', 'attentions')
}

function toOutcome(value: unknown): AnswerOutcome {
  return expectShape<AnswerOutcome>(value, 'kind', 'state')
}

function toResolution(value: unknown): Resolution | undefined {
  const resolution = field(value, 'resolution')
  return isObject(resolution) ? expectShape<Resolution>(resolution, 'kind') : undefined
}
