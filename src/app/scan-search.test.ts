import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findDelivered, type SessionSummary } from '#model'
import { createClaudeSource } from '#sources'
import { createMatcher, entryMatches, toQuery, toSearchText } from '#store'
import { createLines, generateCorpus, openTempDir, readAll, runs, toJsonl, type TempDir } from '#testing'
import type { SearchHit } from '#wire'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scanSearch } from './scan-search.ts'

let dir: TempDir
let sessions: readonly SessionSummary[]
beforeAll(async () => {
  dir = await openTempDir()
  await generateCorpus({ dir: dir.path, seed: 3, size: 'xs' })
  const list = await createClaudeSource(dir.path).list()
  sessions = list.sessions.toSorted((a, b) => ((a.lastActivityAt ?? '') < (b.lastActivityAt ?? '') ? 1 : -1))
})
afterAll(() => dir.remove())

const nameOf = (hit: SearchHit): string => `${hit.session.id} ${hit.subagent ?? ''} ${hit.entry.place.offset}`

async function all(q: string, limit: number, among = sessions): Promise<readonly string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await scanSearch({
      sessions: among,

      query: toQuery(q, 0),
      limit,
      cursor,
    })
    expect(page.hits.length).toBeLessThanOrEqual(limit)
    found.push(...page.hits.map(nameOf))
    cursor = page.next
  } while (cursor !== undefined)
  return found
}

/** The same from everything the transcripts say, tools aside. */
async function read(q: string): Promise<readonly string[]> {
  const query = toQuery(q, 0)
  const matcher = createMatcher(query)
  const found: string[] = []
  for (const session of sessions) {
    for (const { id, path } of [{ id: '', path: session.path }, ...session.subagents]) {
      const entries = (await readAll(path)).flatMap((one) => (one.kind === 'entry' ? [one.entry] : []))
      const delivered = findDelivered(entries)
      for (const entry of entries.toReversed()) {
        if (delivered.has(entry.id)) continue
        const said = toSearchText(entry)
        if (said === undefined || !entryMatches(query.facets, { ...said, kind: entry.kind })) continue
        const texts = [said.text.said, said.text.thought, said.text.tool]
        if (texts.some((text) => text !== undefined && matcher.matches(text))) {
          found.push(`${session.id} ${id} ${entry.place.offset}`)
        }
      }
    }
  }
  return found
}

describe('search without an index', () => {
  test('[SEA11] finds what reading everything finds, newest session first, page by page', async () => {
    const queries = [
      'error',
      'parse',
      'naive',
      'cafe',
      '"reply early"',
      'commit -error',
      'toEqual OR zzz',
      'valueRe*',
      'has:error the',
      'speaker:human a*',
      '日本',
      'zyxwvut',
    ]
    for (const q of queries) {
      const expected = await read(q)
      expect({ q, found: await all(q, 7) }).toEqual({ q, found: expected })
    }
    expect((await read('naive')).length).toBeGreaterThan(0)
  })

  test('[SEA11] no spelling of a word is lost before it is read', async () => {
    const path = join(dir.path, 'one.jsonl')
    const [first] = sessions
    if (first === undefined) throw new Error('the corpus is empty')
    const session = { ...first, path, subagents: [] }
    const letter = fc.constantFrom(
      'c',
      'C',
      'ç',
      'Ç',
      'c\u0327',
      'a',
      'A',
      'à',
      'Ā',
      'f',
      'F',
      'ḟ',
      'e',
      'É',
      'e\u0301',
      'ệ',
      ' ',
      '-',
      '中',
      '☕',
      '"',
      '\\',
      '\n',
    )
    const word = fc.array(letter, { maxLength: 12 }).map((letters) => letters.join(''))
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 5 }), async (texts) => {
        const lines = createLines()
        await writeFile(path, toJsonl(texts.map((text) => lines.prompt(`x ${text}`))))
        for (const q of ['cafe', 'ca', 'fe*', 'cafe OR ace', '"ca fe"']) {
          const matcher = createMatcher(toQuery(q, 0))
          const expected = texts.filter((text) => matcher.matches(`x ${text}`)).length
          expect({ q, count: (await all(q, 50, [session])).length }).toEqual({ q, count: expected })
        }
      }),
      { ...runs(150), examples: [[['☕àce', '']]] },
    )
  })

  test('[SEA11] a hit says where it stands, in what, and shows it', async () => {
    const query = toQuery('naive', 0)
    const page = await scanSearch({ sessions, query, limit: 1 })
    const [hit] = page.hits
    expect(page).toMatchObject({ index: 'none', total: { count: 1, exact: false }, notes: [] })
    expect(hit?.snippet.marks.map(([start, end]) => hit.snippet.text.slice(start, end))).toContain('naïve')
    expect(hit?.entry.cursor).toMatch(/^\d+\.[\w-]{11}$/)
    const results = await scanSearch({
      sessions,

      query: toQuery('tool:bash kind:result', 0),
      limit: 5,
    })
    expect(results.hits.map(({ tool }) => tool)).toEqual(Array.from({ length: 5 }, () => 'Bash'))
  })

  test('[SEA12] others get their turn while it searches, and it can be stopped', async () => {
    let turns = 0
    const count = (): void => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    const query = toQuery('the OR a', 0)
    await scanSearch({ sessions, query, limit: 100_000 })
    clearImmediate(next)
    expect(turns).toBeGreaterThan(1)
    const stopped = scanSearch({
      sessions,

      query,
      limit: 1,
      signal: AbortSignal.abort(),
    })
    await expect(stopped).rejects.toThrow('aborted')
  })

  test('[SEA11] a file that is gone hides nothing else, and a cursor of nobody is refused', async () => {
    const [first] = sessions
    if (first === undefined) throw new Error('the corpus is empty')
    const gone = { ...first, path: join(dir.path, 'gone.jsonl'), subagents: [] }
    const query = toQuery('error', 0)
    const page = await scanSearch({ sessions: [gone, ...sessions], query, limit: 3 })
    expect(page.hits).toHaveLength(3)
    expect(page.notes).toHaveLength(1)
    for (const cursor of ['x', 'scan.x', page.next ?? '']) {
      const asked = scanSearch({ sessions: [], query, limit: 3, cursor })
      await expect(asked).rejects.toMatchObject({ name: 'ThroughlineError' })
    }
  })
})
