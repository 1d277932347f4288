import { field, parseJson, type JsonObject } from '#base'
import { readHookSituation, readPermissionHook, type PermissionHook } from '#drivers'
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

/**
 * Asks on every device what the dialog in the terminal asks, for as long as it is open there. Gives what the hook is
 * to print; nothing when nobody answered here, or nobody is there to ask. Never throws: whatever goes wrong, the
 * dialog is there.
 */
export async function answerHook(options: HookOptions): Promise<JsonObject | undefined> {
  const { isAttended, claudePid } = readHookSituation(options.env)
  if (!isAttended) return undefined
  const hook = readPermissionHook(parseJson(options.read()))
  if (hook === undefined) return undefined
  const daemon = await findDaemon(options.home).catch(() => undefined)
  if (daemon === undefined) return undefined
  const gone = new AbortController()
  const stop = whenGone(hook, { ...options, claudePid }, () => gone.abort())
  try {
    const { address, port, token } = daemon
    const fetch = await createLocalFetch({ port, isTls: address.startsWith('https:') })
    const response = await fetch(`${address}/api/asks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId: hook.sessionId, agent: 'claude', ask: hook.ask }),
      signal: gone.signal,
    })
    if (!response.ok) return undefined
    return hook.toOutput(readResolution(field(parseJson(await response.text()), 'resolution')))
  } catch {
    return undefined
  } finally {
    stop()
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
