import type { Loss } from '#model'
import { safeLine, toPlural } from '#render'
import type { Console } from './console.ts'

const SHOWN = 12

/** What a conversation does not carry as it was, for a person: the same thing only once, with how often. */
export function toLossLines(losses: readonly Loss[], { paint }: Pick<Console, 'paint'>): readonly string[] {
  if (losses.length === 0) return [paint('dim', 'Nothing is lost.')]
  const groups = new Map<string, Loss[]>()
  for (const loss of losses) {
    const key = `${loss.kind} ${loss.how} ${loss.why}`
    groups.set(key, [...(groups.get(key) ?? []), loss])
  }
  const lines = [...groups.values()].map((same) => {
    const [first] = same
    if (first === undefined) return ''
    const times = same.length === 1 ? '' : ` (${same.length} times)`
    const where = paint('dim', `entry ${safeLine(first.origin.entryId)}`)
    return `  ${first.how.padEnd(7)}  ${first.kind}: ${safeLine(first.why)}${times}  ${where}`
  })
  const more = lines.length > SHOWN ? [`  … and ${toPlural(lines.length - SHOWN, 'more kind')}`] : []
  return [`${toPlural(losses.length, 'thing')} not carried as they were:`, ...lines.slice(0, SHOWN), ...more]
}
