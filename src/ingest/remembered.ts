import { readFileSync, type Stats } from 'node:fs'
import { sep } from 'node:path'
import { isObject, list, number, parseJson, string } from '#base'
import { replaceFile } from '#journal'
import type { SessionSummary } from '#model'
import type { SessionFiles } from '#sources'
import { createSlices } from './slices.ts'
import { findStatsOf } from './folder-mark.ts'

/**
 * What the last process knew of every session, so that the next one need not look into files that did not change.
 * Derived: it may be missing, old or broken, and then the files are looked at.
 */
export interface Remembered {
  find(files: SessionFiles, stamp: string): SessionSummary | undefined
}

export interface RememberedRow {
  readonly stamp: string
  readonly summary: SessionSummary
}

const VERSION = 2

export function readRemembered(path: string): Remembered {
  const rows = new Map<string, RememberedRow>()
  for (const row of rowsIn(path)) rows.set(row.summary.path, row)
  return {
    find(files, stamp) {
      const row = rows.get(files.path)
      return row?.stamp === stamp && row.summary.id === files.id ? row.summary : undefined
    },
  }
}

/** Writes down what is known. A row without a stamp is of a file that is gone, and says nothing. */
export async function writeRemembered(path: string, all: readonly RememberedRow[]): Promise<void> {
  const rows: string[] = []
  const slices = createSlices()
  for (const { stamp, summary } of all) {
    if (stamp !== '') rows.push(JSON.stringify({ stamp, summary }))
    if (slices.isOver()) await slices.next()
  }
  await replaceFile(path, `{"version":${VERSION},"rows":[${rows.join()}]}`)
}

function rowsIn(path: string): readonly RememberedRow[] {
  let value: unknown
  try {
    value = parseJson(readFileSync(path, 'utf8'))
  } catch {
    return []
  }
  return number(value, 'version') === VERSION ? list(value, 'rows').filter(isRow) : []
}

/** Our own file, of our own version: what is looked at is what would break the list if it were something else. */
function isRow(value: unknown): value is RememberedRow {
  const summary = isObject(value) ? value['summary'] : undefined
  return (
    string(value, 'stamp') !== undefined &&
    string(summary, 'id') !== undefined &&
    string(summary, 'path') !== undefined &&
    string(summary, 'agent') !== undefined &&
    string(summary, 'state') !== undefined &&
    isObject(summary) &&
    Array.isArray(summary['workdirs']) &&
    Array.isArray(summary['subagents']) &&
    Array.isArray(summary['toolResults'])
  )
}

/** Says whether anything of a session changed, from the entries of its files in their folders. */
export function stampOf(files: SessionFiles): string | undefined {
  const file = findStatsOf(files.path)
  if (file === undefined) return undefined
  const { sideDir } = files
  const side =
    sideDir === undefined
      ? ''
      : `|${timeOf(sideDir)}|${timeOf(`${sideDir}${sep}subagents`)}|${timeOf(`${sideDir}${sep}tool-results`)}`
  const loose = files.loose === undefined ? '' : `|${files.loose.map(({ id }) => id).join()}`
  // What a file goes on from may come after it, as it does from another machine.
  const history = files.history === undefined ? '' : `|${files.history.join()}`
  return `${fileStamp(file)}${side}${loose}${history}`
}

function fileStamp({ size, mtimeMs, dev, ino }: Stats): string {
  return `${size}:${mtimeMs}:${dev}:${ino}`
}

function timeOf(dir: string): number {
  return findStatsOf(dir)?.mtimeMs ?? 0
}
