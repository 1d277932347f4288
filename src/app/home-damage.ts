import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readJournal } from '#journal'
import { toPlural } from '#render'
import type { Notice } from '#wire'

/** Files of the home that nothing else can be made from, what they hold, and how to get it back. */
const FILES: readonly { readonly name: string; readonly holds: string; readonly hint: string }[] = [
  {
    name: 'preferences.jsonl',
    holds: 'names and stars',
    hint: 'Restore the file from a backup, or give them again with `throughline rename` and `throughline star`.',
  },
  {
    name: 'devices.jsonl',
    holds: 'paired devices',
    hint: 'Log devices in again with `throughline pair`, or restore the file from a backup while no daemon runs.',
  },
  {
    name: 'documents.jsonl',
    holds: 'what is remembered',
    hint: 'Restore the file from a backup, or bring documents back with `throughline documents import <file>`.',
  },
  { name: 'decisions.jsonl', holds: 'decisions on documents', hint: 'Restore the file from a backup.' },
  {
    name: 'trust.jsonl',
    holds: 'trusted folders',
    hint: 'You are asked again before a folder loads anything.',
  },
  { name: 'lineage.jsonl', holds: 'what sessions were made of', hint: 'Restore the file from a backup.' },
  { name: 'authors.jsonl', holds: 'who said what', hint: 'Restore the file from a backup.' },
  {
    name: 'asks.jsonl',
    holds: 'the record of permissions answered for terminal sessions',
    hint: 'Restore the file from a backup. Open requests are asked again.',
  },
  {
    name: 'wake-ups.jsonl',
    holds: 'the list of wake-ups that carried a document',
    hint: 'Restore the file from a backup. The full text of every wake-up is in the folder `wake-ups`.',
  },
  {
    name: 'recordings.jsonl',
    holds: 'the list of folders with recordings',
    hint: 'Restore the file from a backup, or run `throughline record` once more in a folder that is missing.',
  },
]

/** A last line without its newline may still be on its way. */
const SETTLED_MS = 5_000

const known = new Map<string, { readonly stamp: string; readonly lines: number }>()

/**
 * What cannot be read of our own files. Readers pass it over and keep it; here it is told, with what is affected and
 * what to do. A file is read again only when it changed.
 */
export async function findHomeDamage(home: string, now: number): Promise<readonly Notice[]> {
  const names = namesIn(home)
  const notices: Notice[] = []
  for (const { name, holds, hint } of FILES) {
    if (!names.includes(name)) continue
    const path = join(home, name)
    const at = new Date(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now).toISOString()
    const lines = await countDamagedLines(path, now)
    const affected = `${holds} may be incomplete`
    if (lines > 0) {
      const message = `${path}: ${toPlural(lines, 'line')} cannot be read, so ${affected}. The bytes stay in the file.`
      notices.push({ at, message, hint })
    }
    const copies = names.filter((other) => other.startsWith(`${name}.torn-`))
    const [first] = copies
    if (first === undefined) continue
    const where = copies.length === 1 ? join(home, first) : `${path}.torn-*`
    const message = `${path}: its end could not be read, so ${affected}. The bytes are kept in ${where}.`
    notices.push({ at, message, hint: `${hint} Then delete the copy.` })
  }
  return notices
}

/** Lines of one of our files that cannot be read; 0 when there is no such file. Read again only when it changed. */
export async function countDamagedLines(path: string, now: number): Promise<number> {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return 0
  const isSettled = now - stats.mtimeMs > SETTLED_MS
  const stamp = `${stats.ino}:${stats.size}:${stats.mtimeMs}:${isSettled}`
  const before = known.get(path)
  if (before?.stamp === stamp) return before.lines
  let lines = 0
  let end = 0
  try {
    for await (const { kind, place } of readJournal(path)) {
      // Blank lines say nothing and lack nothing.
      if (kind === 'damage' && place.length > 0) lines++
      end = place.offset + place.length + 1
    }
  } catch {
    return 1
  }
  if (isSettled && end < stats.size) lines++
  known.set(path, { stamp, lines })
  return lines
}

function namesIn(home: string): readonly string[] {
  try {
    return readdirSync(home)
  } catch {
    return []
  }
}
