import Database from 'better-sqlite3'
import MiniSearch from 'minisearch'
import { createRecall, toStems } from '#memory'
import type { RecallTurn } from '#memory'

/** A way to find turns: the ids of the best ones for a question. */
type Finder = (question: string, limit: number) => readonly string[]

export interface Method {
  readonly name: string
  /** Everything is done beforehand that does not need the question. */
  prepare(turns: readonly RecallTurn[]): Finder
}

const WORD = /[\p{L}\p{N}]+/gu

export const OURS: Method = {
  name: 'Throughline',
  prepare(turns) {
    const recall = createRecall(turns)
    return (question, limit) => recall.turns(question, limit).map(({ turn }) => turn.id)
  },
}

/** What SQLite gives by itself: porter stems, any word of the question, its own BM25. */
export const FTS5: Method = {
  name: 'FTS5 BM25',
  prepare: (turns) => prepareFts5(turns, (question) => question.match(WORD) ?? []),
}

/** The same, asked with more care: words that every text has are left out of the question. */
export const FTS5_CAREFUL: Method = {
  name: 'FTS5 BM25, no stop words',
  prepare: (turns) =>
    prepareFts5(turns, (question) => (question.match(WORD) ?? []).filter((word) => toStems(word).length > 0)),
}

function prepareFts5(turns: readonly RecallTurn[], toWords: (question: string) => readonly string[]): Finder {
  const database = new Database(':memory:')
  database.exec(
    "CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')",
  )
  const insert = database.prepare('INSERT INTO said (rowid, text) VALUES (?, ?)')
  for (const [n, turn] of turns.entries()) insert.run(n + 1, toWhole(turn))
  const select = database.prepare('SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?').pluck()
  return (question, limit) => {
    const words = toWords(question)
    if (words.length === 0) return []
    const found = select.all(words.map((word) => `"${word}"`).join(' OR '), limit)
    return found.flatMap((row) => turns[Number(row) - 1]?.id ?? [])
  }
}

/** How many stems of the question a turn has. */
export const OVERLAP: Method = {
  name: 'term overlap',
  prepare(turns) {
    const texts = turns.map((turn) => ({ id: turn.id, stems: new Set(toStems(toWhole(turn))) }))
    return (question, limit) => {
      const asked = [...new Set(toStems(question))]
      return texts
        .map(({ id, stems }) => ({ id, shared: asked.filter((stem) => stems.has(stem)).length }))
        .filter(({ shared }) => shared > 0)
        .toSorted((a, b) => b.shared - a.shared)
        .slice(0, limit)
        .map(({ id }) => id)
    }
  },
}

/** MiniSearch as it comes. */
export const MINISEARCH: Method = {
  name: 'MiniSearch',
  prepare(turns) {
    const index = new MiniSearch<{ readonly id: string; readonly text: string }>({ fields: ['text'] })
    index.addAll(turns.map((turn) => ({ id: turn.id, text: toWhole(turn) })))
    return (question, limit) =>
      index
        .search(question)
        .slice(0, limit)
        .map(({ id }) => String(id))
  },
}

/** Every method is given the same text. */
function toWhole({ speaker, text, notes, at }: RecallTurn): string {
  return [speaker ?? '', text, ...(notes ?? []), at ?? ''].join(' ')
}
