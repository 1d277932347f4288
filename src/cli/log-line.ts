import { string, type JsonObject } from '#base'
import { safeLine, type Style } from '#render'
import type { Console } from './console.ts'

const STYLES: Readonly<Record<string, Style>> = { error: 'error', warn: 'warning', info: 'dim' }

/** A line of the log for a person. Nothing in it can act on the terminal. */
export function toLogLine(found: JsonObject, { paint }: Console): string {
  const { at: _at, level: _level, event: _event, ...fields } = found
  const level = safeLine(string(found, 'level') ?? '')
  const at = safeLine((string(found, 'at') ?? '').replace('T', ' ').replace(/\.\d+Z$/, ''))
  const rest = Object.entries(fields).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `${paint('dim', `${safeLine(key)}=`)}${safeLine(/\s/.test(text) ? JSON.stringify(text) : text)}`
  })
  const shown = paint(STYLES[level] ?? 'dim', level.padEnd(5))
  return [paint('dim', at), shown, safeLine(string(found, 'event') ?? ''), ...rest].join(' ').trimEnd()
}
