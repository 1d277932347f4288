import { isObject, list } from '#base'
import type { SessionSummary } from '#model'

/**
 * What the page asked for before this script was there: the list, so that it is shown with the first paint. The
 * script in the page leaves a promise behind; what comes of it is our own daemon's answer.
 */
export async function takeEarly(): Promise<{ readonly sessions: readonly SessionSummary[] } | undefined> {
  const early: unknown = Reflect.get(globalThis, 'throughlineEarly')
  Reflect.deleteProperty(globalThis, 'throughlineEarly')
  if (!(early instanceof Promise)) return undefined
  const body: unknown = await early.catch(() => undefined)
  return isObject(body) ? { sessions: list(body, 'sessions').filter(isSummary) } : undefined
}

function isSummary(value: unknown): value is SessionSummary {
  return isObject(value) && typeof value['id'] === 'string' && Array.isArray(value['workdirs'])
}
