import { readFileSync } from 'node:fs'
import { boolean, field, parseJson, string } from '#base'

/** What a person has decided about a session on another machine of his. */
export interface NameElsewhere {
  readonly name?: string | undefined
  readonly starred: boolean
}

/** What is decided here counts; else what was decided elsewhere. */
export function withNameElsewhere(own: NameElsewhere, elsewhere: NameElsewhere | undefined): NameElsewhere {
  if (elsewhere === undefined) return own
  return { name: own.name ?? elsewhere.name, starred: own.starred || elsewhere.starred }
}

/** Reads names and stars out of the logs of other machines. The last word on a session wins, whoever said it. */
export function readNames(paths: readonly string[]): ReadonlyMap<string, NameElsewhere> {
  const names = new Map<string, { readonly at: string; readonly name: string | undefined }>()
  const stars = new Map<string, { readonly at: string; readonly starred: boolean }>()
  for (const path of paths) {
    for (const line of textOf(path).split('\n')) {
      const said = line.trim() === '' ? undefined : parseJson(line)
      const [session, at] = [string(said, 'session'), string(said, 'at') ?? '']
      if (session === undefined) continue
      const kind = string(said, 'kind')
      if (kind === 'session.named' && (names.get(session)?.at ?? '') <= at) {
        const name = field(said, 'name')
        names.set(session, { at, name: typeof name === 'string' ? name : undefined })
      }
      if (kind === 'session.starred' && (stars.get(session)?.at ?? '') <= at)
        stars.set(session, { at, starred: boolean(said, 'starred') ?? false })
    }
  }
  const all = new Set([...names.keys(), ...stars.keys()])
  return new Map(
    [...all].map((session) => [
      session,
      { name: names.get(session)?.name, starred: stars.get(session)?.starred ?? false },
    ]),
  )
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
