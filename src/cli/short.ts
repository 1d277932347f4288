import { safeLine } from '#render'

/** `~/work` for a folder below the person's home. `show`: `exactLine` where a person decides by it. */
export function toShortPath(path: string, home: string, show: (text: string) => string = safeLine): string {
  const shown = show(path)
  if (home === '' || home === '/' || !shown.startsWith(home)) return shown
  const rest = shown.slice(home.length)
  return rest === '' || rest.startsWith('/') || rest.startsWith('\\') ? `~${rest}` : shown
}

/**
 * The first eight characters of an id, behind the date of a recording; twelve of one that is no UUID. A UUID that begins
 * with the time, as those of Codex do, has the same eight for a minute: of it thirteen.
 */
export function toShortId(id: string): string {
  const timed = /^[0-9a-f]{8}-[0-9a-f]{4}(?=-7)/iu.exec(id)?.[0]
  return timed ?? /^(?:\d{4}-\d{2}-\d{2}-)?([0-9a-f]{8})-/iu.exec(id)?.[1] ?? safeLine(id).slice(0, 12)
}

/** `3h`, `12d`: how long ago. `–` when nobody knows. */
export function toAge(at: string | undefined, now: number): string {
  const time = Date.parse(at ?? '')
  if (Number.isNaN(time)) return '–'
  const seconds = Math.max(0, (now - time) / 1000)
  if (seconds < 60) return 'now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`
  if (seconds < 86_400 * 60) return `${Math.floor(seconds / 86_400)}d`
  if (seconds < 86_400 * 730) return `${Math.floor(seconds / 2_629_800)}mo`
  return `${Math.floor(seconds / 31_557_600)}y`
}
