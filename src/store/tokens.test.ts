import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { identifierParts } from './identifier.ts'
import { toTokens } from './tokens.ts'

describe('tokens', () => {
  test('[SEA7] every character is what SQLite takes it for: separator, part of a word, or mark', () => {
    const db = new Database(':memory:')
    db.exec(`CREATE VIRTUAL TABLE entry USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2');
      CREATE VIRTUAL TABLE word USING fts5vocab(entry, 'instance')`)
    const insert = db.prepare('INSERT INTO entry(rowid, text) VALUES (?, ?)')
    const last = process.env['RUNS'] === 'full' ? 0x10ffff : 0x1ffff
    const textOf = (row: number): string =>
      // Characters in rows of 64, each alone and inside a word.
      Array.from({ length: 64 }, (_, n) => String.fromCodePoint(row * 64 + n))
        .map((character) => `a${character}b ${character}c`)
        .join(' ')
    const rows = Array.from({ length: (last + 1) / 64 }, (_, row) => row).filter(
      (row) => row < 0x360 || row >= 0x380,
    )
    db.transaction(() => rows.forEach((row) => insert.run(row + 1, textOf(row))))()
    const words = db
      .prepare<[], { doc: number; term: string }>('SELECT doc, term FROM word ORDER BY doc, offset')
      .all()
    const bySqlite = new Map<number, string[]>()
    for (const { doc, term } of words) bySqlite.set(doc - 1, [...(bySqlite.get(doc - 1) ?? []), term])
    db.close()
    const wrong = rows.filter((row) => bySqlite.get(row)?.join(' ') !== toTokens(textOf(row)).join(' '))
    expect(wrong).toEqual([])
  })

  test('[SEA7] half a character is no part of a word', () => {
    expect(toTokens('a\ud800b \udc00c\ud83d')).toEqual(['a', 'b', 'c'])
  })
})

describe('parts of names', () => {
  test('[SEA2] names in several words are told apart, each once, in order', () => {
    expect(identifierParts('HTMLParser parseLine, parse2Lines; parseLine FOO_BAR Foo foo')).toBe(
      'html parser parse line parse2 lines',
    )
    expect(identifierParts('größeWert XMLHttpRequest useHTTP 调用parseLine函数')).toBe(
      'größe wert xml http request use http parse line',
    )
  })

  test('[SEA2] ids and data are no names, and what is added to a text is bounded', () => {
    expect(identifierParts(`toolu_01AbC3dE5fG ${'aB'.repeat(40)}`)).toBe('')
    const many = Array.from(
      { length: 5000 },
      (_, n) => `name${String.fromCodePoint(97 + (n % 26))}Part${n}`,
    ).join(' ')
    expect(identifierParts(many).length).toBeLessThanOrEqual(8192)
  })
})
