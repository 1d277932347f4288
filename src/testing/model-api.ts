import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isObject, list, object, parseJson, string, type JsonObject } from '#base'
import { isChat, sendChat } from './model-api-chat.ts'
import { followCues } from './model-api-cues.ts'
import { findGeminiModel, isGemini, isWholeGemini, sendGemini } from './model-api-gemini.ts'
import { isResponses, sendResponse } from './model-api-responses.ts'
import { sendSteps, sendWhole, type ModelStep } from './model-api-stream.ts'
import { listenOnLoopback } from './loopback-server.ts'

/** Says what the model answers. Asked once for every request of a conversation. */
export type ModelScript = (request: ModelRequest) => readonly ModelStep[]

/** A request that came in, as far as scripts and tests look at it. */
export interface ModelRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
  /** The session on whose behalf the client asks. */
  readonly sessionId: string | undefined
  /** `conversation`: the agent's own loop. `aside`: a title, a summary. `other`: not a message at all. */
  readonly purpose: 'conversation' | 'aside' | 'other'
}

export interface ModelApi {
  /**
   * For `ANTHROPIC_BASE_URL` and `GOOGLE_GEMINI_BASE_URL`; with `/v1` behind it for the `base_url` of a model provider
   * of Codex and for that of an OpenAI-compatible provider of opencode.
   */
  readonly url: string
  /** Everything that was asked, in order; also what nobody knows here. */
  readonly requests: readonly ModelRequest[]
  close(): Promise<void>
}

/**
 * A model behind the Messages API of Anthropic, the Responses and Chat Completions APIs of OpenAI and the Gemini API
 * that says what a script tells it to, on loopback. Real agents run against it without a network and without a key. Without a script it follows the cues of the prompts.
 */
export async function openModelApi(script: ModelScript = followCues): Promise<ModelApi> {
  const requests: ModelRequest[] = []
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing).catch(() => outgoing.destroy())
  })

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await readRequest(incoming)
    requests.push(request)
    const [path = ''] = request.path.split('?')
    if (request.method === 'POST' && path.endsWith('/messages/count_tokens'))
      return sendJson(outgoing, { input_tokens: JSON.stringify(request.body).length >> 2 })
    if (request.method === 'POST' && path.endsWith(':countTokens'))
      return sendJson(outgoing, { totalTokens: JSON.stringify(request.body).length >> 2 })
    if (request.purpose === 'other') return sendJson(outgoing, {})
    const steps: readonly ModelStep[] =
      request.purpose === 'aside' ? [{ kind: 'text', text: 'A scripted aside' }] : script(request)
    const model = string(request.body, 'model') ?? findGeminiModel(request.path) ?? 'scripted'
    const facts = { model, number: requests.length }
    const isWhole = request.body['stream'] !== true
    if (isResponses(request.path)) return await sendResponse(outgoing, steps, facts)
    if (isChat(request.path)) return await sendChat(outgoing, steps, { ...facts, whole: isWhole })
    if (isGemini(request.path))
      return await sendGemini(outgoing, steps, { ...facts, whole: isWholeGemini(request.path) })
    if (isWhole) return sendWhole(outgoing, steps, facts)
    await sendSteps(outgoing, steps, facts)
  }

  const { port, close } = await listenOnLoopback(server)
  return { url: `http://127.0.0.1:${String(port)}`, requests, close }
}

/** A script that gives each request of the conversation the next of these answers, and then says that it is done. */
export function inTurns(...turns: readonly (readonly ModelStep[])[]): ModelScript {
  let next = 0
  return () => turns[next++] ?? [{ kind: 'text', text: 'Nothing more is scripted.' }]
}

async function readRequest(incoming: IncomingMessage): Promise<ModelRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  const parsed = parseJson(Buffer.concat(chunks).toString('utf8'))
  const body = isObject(parsed) ? parsed : {}
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value)
  const path = incoming.url ?? '/'
  const isAnswer = [isResponses, isChat, isGemini, isMessages].some((speaks) => speaks(path))
  const isMessage = incoming.method === 'POST' && isAnswer
  // Titles and summaries are asked for with a format or without any tool; the agent's own loop always has its tools.
  const isAside = !hasTools(body) || isFormatted(body)
  return {
    method: incoming.method ?? '',
    path,
    headers,
    body,
    sessionId: headers['x-claude-code-session-id'] ?? headers['session-id'],
    purpose: !isMessage ? 'other' : isAside ? 'aside' : 'conversation',
  }
}

/** Claude Code asks for titles with a format of any kind, Codex with the schema of one. */
function isFormatted(body: JsonObject): boolean {
  const schema = object(object(object(body, 'text'), 'format'), 'schema')
  return (
    object(body, 'output_config')?.['format'] !== undefined ||
    object(schema, 'properties')?.['title'] !== undefined
  )
}

function isMessages(path: string): boolean {
  return /\/v1\/messages(?:\?|$)/u.test(path)
}

/** Newer models of OpenAI are told of their tools in the conversation itself. */
function hasTools(body: JsonObject): boolean {
  if (list(body, 'tools').length > 0) return true
  return list(body, 'input').some((item) => string(item, 'type') === 'additional_tools')
}

function sendJson(outgoing: ServerResponse, value: JsonObject): void {
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify(value))
}
