import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { ThroughlineError } from '#base'
import { findMode, type SessionView } from '#model'
import type { RunRequest, Throughline } from '#wire'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { converse } from './conversation.ts'
import { follow } from './follow.ts'
import { editorOf, findTerminal, readPrompt, toPrompt, withLive } from './live-session.ts'
import { toJsonLine } from './json.ts'
import { toShortPath } from './short.ts'
import type { Site } from './site.ts'
import type { Terminal } from './terminal.ts'
import { considerTrust } from './trust-folder.ts'

/** `throughline run` */
export async function runAgent(site: Site, values: Values, console: Console): Promise<number> {
  const terminal = values.flag('detach') ? undefined : findTerminal(console, values)
  try {
    const text = await readPrompt(values.args)
    if (text === undefined && terminal === undefined && !values.flag('detach')) throw noPrompt()
    return await withLive(site, async (throughline) => {
      const workdir = resolve(values.value('workdir') ?? '.')
      await considerTrust(throughline, workdir, { values, console, terminal })
      const prompt = text === undefined ? undefined : toPrompt(text)
      const view = await throughline.live.start({
        agent: values.value('agent') ?? 'claude',
        workdir,
        sessionId: randomUUID(),
        ...toRunRequest(values),
        ...(values.flag('no-wake-up') ? { wakeUp: false } : {}),
        ...(prompt === undefined ? {} : { prompt }),
      })
      return await goOn({ throughline, view, promptId: prompt?.id, site, values, console, terminal })
    })
  } finally {
    terminal?.close()
  }
}

export interface Beginning {
  readonly throughline: Throughline
  readonly view: SessionView
  readonly promptId: string | undefined
  readonly site: Site
  readonly values: Values
  readonly console: Console
  readonly terminal: Terminal | undefined
}

/** What comes after a session was begun or taken up: its answer, a conversation, or only its id. */
export async function goOn(beginning: Beginning): Promise<number> {
  const { throughline, view, promptId, values, console, terminal } = beginning
  const { sessionId } = view
  const isJson = values.flag('json')
  const editor = editorOf(beginning.site)
  // Without a person and without a prompt there is nothing to wait for.
  if (values.flag('detach') || (promptId === undefined && terminal === undefined)) {
    const { agent, workdir, state, mode } = await untilStarted(throughline, view)
    await console.out.write(
      isJson ? toJsonLine({ sessionId, agent, workdir, state, mode }) : `${sessionId}\n`,
    )
    return 0
  }
  if (!isJson) {
    const where = toShortPath(view.workdir, console.home)
    console.say(`note: session ${sessionId} · ${view.agent} · ${where} · mode ${view.mode}`)
  }
  const shared = { throughline, sessionId, console, isJson, terminal, editor }
  const code =
    promptId === undefined
      ? await converse(shared)
      : await follow({
          ...shared,
          promptId,
          ownPrompts: new Set([promptId]),
          denyAll: values.flag('deny-all'),
        })
  if (values.flag('end')) await endQuietly(throughline, sessionId)
  return code
}

/** How long an agent may take to start before only its id is told. */
const START_MS = 20_000
const LOOK_MS = 50

/** The session as it stands when its agent has started. Rejects with the reason when it does not start. */
async function untilStarted(throughline: Throughline, begun: SessionView): Promise<SessionView> {
  let view = begun
  for (let waited = 0; view.state.state === 'pending' && waited < START_MS; waited += LOOK_MS) {
    await new Promise<void>((done) => void setTimeout(done, LOOK_MS))
    view = await throughline.live.view(begun.sessionId)
  }
  return view
}

/** It may have ended by itself. */
async function endQuietly(throughline: Throughline, sessionId: string): Promise<void> {
  await throughline.live.end(sessionId).catch((error: unknown) => {
    if (!(error instanceof ThroughlineError) || error.code !== 'session-ended') throw error
  })
}

/** What every beginning may say. */
export function toRunRequest(values: Values): RunRequest {
  const model = values.value('model')
  const mode = findMode(values.value('mode'))
  return { ...(model === undefined ? {} : { model }), ...(mode === undefined ? {} : { mode }) }
}

function noPrompt(): ThroughlineError {
  return new ThroughlineError('bad-usage', 'run needs a prompt', {
    hint: 'Give it in words, or pipe it in: `echo "…" | throughline run`.',
  })
}
