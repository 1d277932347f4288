import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { field, list, parseJson, string } from '#base'
import { openSharedJournal } from '#journal'
import type { OutlinePoint, PromptAuthor } from '#model'

/** Something that was said in a session, and by whom. */
export interface SaidBy {
  /** The first line of it, as an outline has it. */
  readonly line: string
  readonly at: string
  readonly person: string
  readonly machine: string
}

/** What is known of the authors of a session beside that everything else was said by its owner. */
export interface Authorship {
  /** Everything that was said before it came here, in order. */
  readonly inherited: readonly SaidBy[]
  /** What others said in it since, from other machines. */
  readonly said: readonly SaidBy[]
}

/** Who said what: `<home>/authors.jsonl`, beside the lineage. Transcripts of agents know of one person only. */
export interface AuthorLog {
  addSaid(session: string, said: SaidBy): Promise<void>
  /** Written down once: the same session again adds nothing. */
  addInherited(session: string, inherited: readonly SaidBy[]): Promise<void>
  of(session: string): Authorship
  sessions(): readonly string[]
}

const NOBODY: Authorship = { inherited: [], said: [] }

export function createAuthorLog(home: string): AuthorLog {
  const path = join(home, 'authors.jsonl')
  let known = new Map<string, Authorship>()
  let seen: string | undefined

  function readAll(): ReadonlyMap<string, Authorship> {
    const stats = statSync(path, { throwIfNoEntry: false })
    const stamp = stats && `${stats.ino} ${stats.size} ${stats.mtimeMs}`
    if (stamp === seen) return known
    seen = stamp
    known = new Map()
    if (stamp === undefined) return known
    const text = readFileSync(path, 'utf8')
    for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      const value = parseJson(line)
      const session = string(value, 'session')
      if (session === undefined) continue
      const { inherited, said } = readAuthorship(value)
      const before = known.get(session) ?? NOBODY
      known.set(session, {
        inherited: inherited.length > 0 ? inherited : before.inherited,
        said: [...before.said, ...said],
      })
    }
    return known
  }

  async function add(line: object): Promise<void> {
    const journal = await openSharedJournal(path)
    try {
      await journal.append(line)
    } finally {
      await journal.close()
    }
  }

  return {
    async addSaid(session, said) {
      await add({ session, said: [said] })
    },
    async addInherited(session, inherited) {
      const before = readAll().get(session)?.inherited
      if (inherited.length === 0 || JSON.stringify(before) === JSON.stringify(inherited)) return
      await add({ session, inherited })
    },
    of: (session) => readAll().get(session) ?? NOBODY,
    sessions: () => [...readAll().keys()],
  }
}

/** Reads what was written down, or came from another machine. */
export function readAuthorship(value: unknown): Authorship {
  return { inherited: readSaid(value, 'inherited'), said: readSaid(value, 'said') }
}

/** Reads a list of what was said. */
export function readSaid(value: unknown, key: string): readonly SaidBy[] {
  return list(value, key).flatMap((each) => {
    const [line, at] = [string(each, 'line'), string(each, 'at')]
    const [person, machine] = [string(each, 'person'), string(each, 'machine')]
    if (line === undefined || at === undefined || person === undefined || machine === undefined) return []
    return Number.isNaN(Date.parse(at)) || field(each, 'line') === '' ? [] : [{ line, at, person, machine }]
  })
}

/** Clocks of machines differ a little, and an agent writes a prompt down a moment after it was said. */
const EARLY_MS = 5000

type Prompt = Extract<OutlinePoint, { kind: 'prompt' }>

/**
 * Who said each prompt of a session. What was copied is known by its words, in order; what somebody else said, by its
 * words and its time. Of a prompt whose words were masked on the way the time has to do.
 */
export function toAuthors(
  outline: readonly OutlinePoint[],
  { inherited, said }: Authorship,
  owner: Omit<PromptAuthor, 'entryId'>,
): readonly PromptAuthor[] {
  const prompts = outline.filter((point): point is Prompt => point.kind === 'prompt')
  const authors = new Map<string, Omit<PromptAuthor, 'entryId'>>()
  const find = (isIt: (prompt: Prompt) => boolean): Prompt | undefined =>
    prompts.find((prompt) => !authors.has(prompt.id) && isIt(prompt))
  const put = (prompt: Prompt | undefined, { person, machine }: SaidBy): void => {
    if (prompt !== undefined) authors.set(prompt.id, { person, machine })
  }
  for (const each of inherited) {
    put(
      find(({ text, at }) => text === each.line && at === each.at) ?? find(({ text }) => text === each.line),
      each,
    )
  }
  for (const each of inherited) {
    if (!prompts.some(({ text }) => text === each.line))
      put(
        find(({ at }) => at === each.at),
        each,
      )
  }
  for (const each of said) {
    const isSame = find((prompt) => prompt.text === each.line && late(prompt, each) >= -EARLY_MS)
    put(
      isSame ??
        find((prompt) => Math.abs(late(prompt, each)) <= EARLY_MS && prompt.text.includes('[redacted')),
      each,
    )
  }
  return prompts.map(({ id }) => ({ entryId: id, ...(authors.get(id) ?? owner) }))
}

/** The same as it is handed on. */
export function toSaidBy(
  outline: readonly OutlinePoint[],
  authors: readonly PromptAuthor[],
): readonly SaidBy[] {
  const known = new Map(authors.map((author) => [author.entryId, author]))
  return outline.flatMap((point) => {
    const author = point.kind === 'prompt' ? known.get(point.id) : undefined
    if (point.kind !== 'prompt' || point.at === undefined || author === undefined || author.person === '')
      return []
    return [{ line: point.text, at: point.at, person: author.person, machine: author.machine }]
  })
}

/** By how much a prompt was written down later than it was said. */
function late(prompt: Prompt, { at }: SaidBy): number {
  return Date.parse(prompt.at ?? '') - Date.parse(at)
}
