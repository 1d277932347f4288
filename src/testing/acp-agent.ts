/**
 * The scripted agent behind the Agent Client Protocol, in a process of its own: it follows the cues of the prompts and
 * keeps its transcripts in a folder. Its sessions have ids of its own, it begins in a mode that asks nobody, and it
 * goes on with a session by telling all of it again.
 *
 *     node dist/testing/acp-agent.js <folder>
 */
import { Writable } from 'node:stream'
import { agent, methods, ndJsonStream, RequestError } from '@agentclientprotocol/sdk'
import type {
  AgentContext,
  PromptResponse,
  RequestPermissionRequest,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import { AGENT_MARK, createScriptedDriver, type AgentFact, type RunningAgent } from '#drivers'
import { textOf, type Ask, type PermissionMode, type Resolution } from '#model'

const [folder = ''] = process.argv.slice(2)
const MODES: readonly { readonly id: string; readonly name: string; readonly mode: PermissionMode }[] = [
  { id: 'auto', name: 'Auto', mode: 'bypass' },
  { id: 'always-ask', name: 'Always ask', mode: 'default' },
  { id: 'auto-edit', name: 'Auto edit', mode: 'accept-edits' },
  { id: 'plan', name: 'Plan', mode: 'plan' },
]
const MODE_STATE = { currentModeId: 'auto', availableModes: MODES.map(({ id, name }) => ({ id, name })) }

let running: RunningAgent | undefined
let sessionId = ''
let prompts = 0
let endTurn: ((fact: Extract<AgentFact, { kind: 'turn.ended' }>) => void) | undefined
const shown = new Set<string>()

// Asked for its configuration, as opencode is, it has none.
if (process.argv.includes('debug')) {
  process.stdout.write('{}\n')
  process.exit()
}

const incoming = new ReadableStream<Uint8Array>({
  start(controller) {
    process.stdin.on('data', (chunk: Buffer) => controller.enqueue(chunk))
    process.stdin.on('end', () => controller.close())
  },
})

const connection = agent({ name: 'scripted' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentInfo: { name: 'scripted', version: '1.18.0' },
    agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
    authMethods: [],
  }))
  .onRequest('session/new', async ({ params, client }) => {
    const id = process.env[AGENT_MARK] ?? 'unmarked'
    await open(client, { id, workdir: params.cwd })
    return { sessionId, modes: MODE_STATE }
  })
  .onRequest('session/load', async ({ params, client }) => {
    await open(client, { id: params.sessionId.replace('acp-', ''), workdir: params.cwd, isOld: true })
    await update(client, {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: 'said long ago' },
    })
    return { modes: MODE_STATE }
  })
  .onRequest('session/set_mode', async ({ params }) => {
    const found = MODES.find(({ id }) => id === params.modeId)
    if (!found) throw RequestError.invalidParams(undefined, 'there is no such mode')
    await running?.setMode(found.mode)
    return {}
  })
  .onRequest('session/prompt', async ({ params }) => {
    const over = new Promise<Extract<AgentFact, { kind: 'turn.ended' }>>((resolve) => (endTurn = resolve))
    const text = params.prompt
      .map((block) => (block.type === 'text' ? block.text : `(${block.type})`))
      .join('\n')
    await running?.prompt({ id: `prompt-${String(++prompts)}`, blocks: [{ kind: 'text', text }] })
    return toResponse(await over)
  })
  .onNotification('session/cancel', async () => {
    await running?.interrupt()
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), incoming))

await connection.closed
await running?.close()
process.exit()

async function open(
  client: AgentContext,
  session: { readonly id: string; readonly workdir: string; readonly isOld?: boolean },
): Promise<void> {
  sessionId = `acp-${session.id}`
  const driver = createScriptedDriver({ transcripts: folder, now: () => Date.now() })
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value
  running = await driver.start({
    sessionId: session.id,
    workdir: session.workdir,
    mode: 'bypass',
    trusted: true,
    env,
    onFact: (fact) => void tell(client, fact),
    ask: (ask, signal) => request(client, ask, signal),
    ...(session.isOld === true ? { resume: { sessionId: session.id } } : {}),
  })
}

async function update(client: AgentContext, value: SessionUpdate): Promise<void> {
  await client.notify('session/update', { sessionId, update: value }).catch(() => {})
}

async function tell(client: AgentContext, fact: AgentFact): Promise<void> {
  switch (fact.kind) {
    case 'delta':
      if (fact.what === 'input') return
      return await update(client, {
        sessionUpdate: fact.what === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk',
        messageId: `${fact.messageId}-${String(fact.block)}`,
        content: { type: 'text', text: fact.text },
      })
    case 'message':
      for (const block of fact.blocks) {
        if (block.kind === 'tool-use')
          await showCall(client, { id: block.id, name: block.name, input: block.input })
        if (block.kind === 'tool-result')
          await update(client, {
            sessionUpdate: 'tool_call_update',
            toolCallId: block.toolUseId,
            status: block.isError ? 'failed' : 'completed',
            content: [{ type: 'content', content: { type: 'text', text: textOf(block.content) } }],
          })
      }
      return
    case 'mode.changed': {
      const currentModeId = MODES.find(({ mode }) => mode === fact.mode)?.id ?? ''
      return await update(client, { sessionUpdate: 'current_mode_update', currentModeId })
    }
    case 'turn.ended':
      endTurn?.(fact)
      return
    case 'ended':
      if (fact.reason === 'crashed') process.kill(process.pid, 'SIGKILL')
      return
    case 'started':
    case 'renamed':
    case 'turn.started':
    case 'retrying':
    case 'trouble':
    case 'unknown':
  }
}

async function showCall(
  client: AgentContext,
  { id, name, input }: { readonly id: string; readonly name: string; readonly input: unknown },
): Promise<void> {
  if (shown.has(id)) return
  shown.add(id)
  await update(client, {
    sessionUpdate: 'tool_call',
    toolCallId: id,
    title: `${name} ${JSON.stringify(input)}`,
    name,
    kind: name === 'Bash' ? 'execute' : 'edit',
    status: 'pending',
    rawInput: input,
  })
}

/** Asks through the client. What it cannot carry, nobody is asked. */
async function request(client: AgentContext, ask: Ask, signal: AbortSignal): Promise<Resolution> {
  if (ask.kind === 'question') throw new Error('nobody can be asked a question')
  const params: RequestPermissionRequest = {
    sessionId,
    toolCall: { toolCallId: ask.toolUseId ?? '', name: ask.tool, rawInput: ask.input, status: 'pending' },
    options: [
      { optionId: 'once', name: 'Yes', kind: 'allow_once' },
      ...ask.rules.map(({ id, words }) => ({
        optionId: id,
        name: `${words}, for this session`,
        kind: 'allow_always' as const,
      })),
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ],
  }
  const { outcome } = await client.request(methods.client.session.requestPermission, params, {
    cancellationSignal: signal,
  })
  if (outcome.outcome !== 'selected') throw new Error('nobody answered')
  if (outcome.optionId === 'no') return { kind: 'deny' }
  return { kind: 'allow', rules: outcome.optionId === 'once' ? [] : [outcome.optionId] }
}

function toResponse({ outcome }: Extract<AgentFact, { kind: 'turn.ended' }>): PromptResponse {
  if (outcome.kind === 'interrupted') return { stopReason: 'cancelled' }
  if (outcome.kind === 'answered') return { stopReason: 'end_turn' }
  throw RequestError.internalError({ details: outcome.message, status: outcome.status })
}
