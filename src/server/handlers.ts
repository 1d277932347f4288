import { exportSession, type LocalThroughline } from '#app'
import { string, ThroughlineError, type JsonObject } from '#base'
import type { SessionSummary } from '#model'
import {
  isSessionId,
  readExportFormat,
  readListOptions,
  readConversationOptions,
  readPageOptions,
  readSearchRequest,
  readSessionChange,
  readUsageRequest,
  type ExportFormat,
  type Notice,
  type QueryValues,
  type RouteName,
  type Throughline,
} from '#wire'
import type { Access, Caller } from './access.ts'
import type { Answer } from './answer.ts'
import { createLiveHandlers } from './live-handlers.ts'
import { createMcpRoute } from './mcp-route.ts'
import { createMemoryHandlers } from './memory-handlers.ts'
import { createRestoreHandlers } from './restore-handlers.ts'
import { createTeamHandlers } from './team-handlers.ts'
import { conversationPieces, listBytes, pagePieces, summaryText } from './wire-json.ts'

/** What a handler is told of a request. */
interface Call {
  readonly caller: Caller | undefined
  readonly peer: string
  readonly id: string
  readonly query: QueryValues
  readonly body: JsonObject
  /** What a header says; of several of one name, what Node makes of them. */
  readonly header: (name: string) => string | undefined
  /** Called once when whoever asked is gone before they were answered. */
  readonly onGone: (listener: () => void) => void
}

/** One of this process gives a conversation in parts, so that a long one is never held whole. */
export type ServedThroughline = Throughline & Partial<Pick<LocalThroughline, 'conversationParts'>>

export type Handler = (call: Call) => Promise<Answer> | Answer

/** What the handlers need of their server. */
export interface Surroundings {
  readonly throughline: ServedThroughline
  readonly access: Access
  readonly port: () => number
  readonly version: string
  readonly startedAt: string
  readonly notices: () => readonly Notice[]
  readonly onStop: () => void
  /** Hears of what should not have happened, where the answer does not tell. */
  readonly onFailure: (error: unknown) => void
}

/** One handler per route: a new route does not compile until it has one. */
export function createHandlers(around: Surroundings): Readonly<Record<RouteName, Handler>> {
  const { throughline } = around

  /** The session with exactly this id. What else `get` understands is for people. */
  async function sessionOf({ id }: Call): Promise<SessionSummary> {
    const found = await throughline.get(id)
    if (found.id === id) return found
    throw new ThroughlineError('session-not-found', `no session has the id ${id}`, {
      hint: '`GET /api/sessions` lists them.',
    })
  }

  return {
    ...accessHandlers(around),
    ...createLiveHandlers(throughline.live),
    mcp: createMcpRoute(around),
    ...createMemoryHandlers(throughline.memory),
    ...createRestoreHandlers(throughline.restoring),
    ...createTeamHandlers(throughline.team),
    async health() {
      const health = await throughline.health()
      const { version, startedAt } = around
      return json({ ...health, version, startedAt, notices: [...health.notices, ...around.notices()] })
    },
    stop: () => ({ kind: 'nothing', onSent: around.onStop }),
    async sessions({ query }) {
      return { kind: 'json', text: listBytes(await throughline.list(readListOptions(query))) }
    },
    async session({ id }) {
      return { kind: 'json', text: summaryText(await throughline.get(id)) }
    },
    async change(call) {
      const { name, starred } = readSessionChange(call.body)
      let session = await sessionOf(call)
      if (name !== undefined) session = await throughline.rename(session, name ?? undefined)
      if (starred !== undefined) session = await throughline.star(session, starred)
      return { kind: 'json', text: summaryText(session) }
    },
    survey: async (call) => json(await throughline.survey(await sessionOf(call))),
    digest: async (call) => json(await throughline.digest(await sessionOf(call))),
    async entries(call) {
      const options = readPageOptions(call.query)
      const page = await throughline.page(await sessionOf(call), options)
      return { kind: 'stream', type: 'application/json', pieces: pagePieces(page) }
    },
    async conversation(call) {
      const options = readConversationOptions(call.query)
      const session = await sessionOf(call)
      const parts = throughline.conversationParts?.(session, options) ?? [
        await throughline.conversation(session, options),
      ]
      return { kind: 'stream', type: 'application/json', pieces: conversationPieces(parts) }
    },
    check: async (call) => json(await throughline.check(await sessionOf(call))),
    async export(call) {
      const format = readExportFormat(call.query)
      return exportOf(throughline, await sessionOf(call), format)
    },
    async bytes(call) {
      const pieces = throughline.bytes(await sessionOf(call))
      return { kind: 'stream', type: 'application/octet-stream', pieces }
    },
    search: async ({ query }) => json(await throughline.search(readSearchRequest(query))),
    usage: async ({ query }) => json(await throughline.usage(readUsageRequest(query))),
    async showDemo() {
      await throughline.demo('on')
      return { kind: 'nothing' }
    },
    async removeDemo() {
      await throughline.demo('off')
      return { kind: 'nothing' }
    },
  }
}

type AccessRoute = 'login' | 'prove' | 'codes' | 'tickets' | 'logout' | 'devices' | 'revoke'

function accessHandlers({ access, port }: Surroundings): Readonly<Record<AccessRoute, Handler>> {
  return {
    async login({ body, peer }) {
      const label = string(body, 'label') ?? ''
      return json(await access.login(string(body, 'code') ?? '', { label, peer }))
    },
    prove({ body }) {
      const nonce = string(body, 'nonce') ?? ''
      if (/^[A-Za-z0-9_-]{16,128}$/.test(nonce)) return json({ proof: access.prove(nonce, port()) })
      throw new ThroughlineError('request-invalid', 'the nonce is none', {
        hint: 'Give 16 to 128 characters of base64url.',
      })
    },
    codes({ caller }) {
      const issued = caller && access.issueCode(caller)
      return json(issued ? { code: issued.word, expiresAt: new Date(issued.expiresAt).toISOString() } : {})
    },
    tickets: ({ caller }) => json({ ticket: caller && access.issueTicket(caller) }),
    async logout({ caller }) {
      if (caller?.kind === 'device') await access.revoke(caller.device.id)
      return { kind: 'nothing', headers: { 'clear-site-data': '"cache", "storage"' } }
    },
    devices({ caller }) {
      const current = caller?.kind === 'device' ? caller.device.id : undefined
      return json({
        devices: access.devices().map((device) => ({ ...device, current: device.id === current })),
      })
    },
    async revoke({ id }) {
      if (await access.revoke(id)) return { kind: 'nothing' }
      throw new ThroughlineError('request-invalid', 'there is no such device', {
        hint: '`GET /api/devices` lists them.',
      })
    },
  }
}

const TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  md: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
}

function exportOf(throughline: Throughline, session: SessionSummary, format: ExportFormat): Answer {
  return {
    kind: 'stream',
    type: TYPES[format],
    fileName: `${isSessionId(session.id) ? session.id : 'session'}.${format}`,
    pieces: format === 'jsonl' ? throughline.bytes(session) : exportSession(throughline, session, { format }),
    headers: { 'throughline-secrets': format === 'jsonl' ? 'kept' : 'masked' },
  }
}

function json(value: object): Answer {
  return { kind: 'json', text: JSON.stringify(value) }
}
