import { field, parseJson, string, type JsonObject } from '#base'
import {
  readHookSituation,
  readPermissionHook,
  readSessionStartHook,
  type PermissionHook,
  type SessionStartHook,
} from '#drivers'
import { findDaemon } from '#server'
import { readResolution } from '#wire'
import { createLocalFetch } from './local-fetch.ts'
import { watchDialog } from './terminal-dialog.ts'

export interface HookOptions {
  /** Throughline's own folder. */
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Gives what Claude Code writes to the hook. */
  readonly read: () => string
  readonly now: () => number
  /** The process that started this one, as it is now. */
  readonly parent: () => number
}

const LOOK_MS = 250

/** A session that begins waits no longer than this. */
const WAKING_MS = 10_000
/** Claude Code cuts off what is longer. */
const WAKING_CHARACTERS = 9000

/**
 * Does what a hook of Claude Code is there for: a dialog is asked about on every device, and a session that begins is
 * told what earlier ones knew. Gives what the hook is to print; nothing when there is nothing to say, or nobody to
 * ask. Never throws: whatever goes wrong, Claude Code goes on as if there were no hook.
 */
export async function answerHook(options: HookOptions): Promise<JsonObject | undefined> {
  const { isAttended, isRunHere, claudePid } = readHookSituation(options.env)
  if (!isAttended && !isRunHere) return undefined
  const payload = parseJson(options.read())
  const start = readSessionStartHook(payload)
  // What is run here was told by its host how to begin.
  if (start !== undefined && (isAttended || start.reason === 'compact'))
    return await wake(start, options.home)
  const hook = isAttended && start === undefined ? readPermissionHook(payload) : undefined
  return hook === undefined ? undefined : await askAboutDialog(hook, { ...options, claudePid })
}

/** What the session that begins is told. */
async function wake(start: SessionStartHook, home: string): Promise<JsonObject | undefined> {
  const { sessionId, workdir, reason } = start
  const answer = await post(home, '/api/wake-ups', {
    body: { sessionId, workdir, reason, agent: 'claude', characters: WAKING_CHARACTERS },
    signal: AbortSignal.timeout(WAKING_MS),
  })
  const text = string(answer, 'text') ?? ''
  return text === '' ? undefined : start.toOutput(text)
}

/**
 * Asks on every device what the dialog in the terminal asks, for as long as it is open there. Nothing when nobody
 * answered here: the dialog is there.
 */
async function askAboutDialog(
  hook: PermissionHook,
  options: HookOptions & { readonly claudePid: string | undefined },
): Promise<JsonObject | undefined> {
  const gone = new AbortController()
  const stop = whenGone(hook, options, () => gone.abort())
  try {
    const body = { sessionId: hook.sessionId, agent: 'claude', ask: hook.ask }
    const answer = await post(options.home, '/api/asks', { body, signal: gone.signal })
    return answer === undefined ? undefined : hook.toOutput(readResolution(field(answer, 'resolution')))
  } finally {
    stop()
  }
}

/** What the daemon says; nothing when there is none, or it refuses. */
async function post(
  home: string,
  path: string,
  { body, signal }: { readonly body: object; readonly signal: AbortSignal },
): Promise<unknown> {
  const daemon = await findDaemon(home).catch(() => undefined)
  if (daemon === undefined) return undefined
  try {
    const { address, port, token } = daemon
    const fetch = await createLocalFetch({ port, isTls: address.startsWith('https:') })
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    return response.ok ? parseJson(await response.text()) : undefined
  } catch {
    return undefined
  }
}

/** Calls back once the dialog was answered in the terminal, or Claude Code is not there any more. */
function whenGone(
  hook: PermissionHook,
  options: HookOptions & { readonly claudePid: string | undefined },
  onGone: () => void,
): () => void {
  const { claudePid, now, parent } = options
  const began = parent()
  const { sessionId, transcript } = hook
  const dialog = watchDialog({ sessionId, transcript, claudePid, now })
  const timer = setInterval(() => {
    if (parent() === began && dialog.look() !== 'gone') return
    clearInterval(timer)
    onGone()
  }, LOOK_MS)
  return () => clearInterval(timer)
}
