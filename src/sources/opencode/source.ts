import { existsSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { ThroughlineError } from '#base'
import type { Source, SourceProblem } from '../source.ts'
import type { Meter } from '../transcript-file.ts'
import { createTranscribedSource, type Originals, type TranscribedReader } from '../transcribed.ts'
import { openDatabase, stampOfDatabase } from './database.ts'
import { createCopyFinder } from './copies.ts'
import type { OpencodeRows, OpencodeSession } from './rows.ts'
import { openStorage, stampOfStorage } from './storage.ts'
import { transcribeOpencode } from './transcribe.ts'
import { findStats } from '../folders.ts'

/**
 * Reads what opencode keeps in its data folder: a database, and the tree of files that older versions had. Never
 * writes there. Its sessions are rows that change: what they say is transcribed to lines under `dir`.
 */
export function createOpencodeSource(dataDir: string, dir: string, meter?: Meter): Source {
  return createTranscribedSource(createOpencodeReader(dataDir, dir), dir, meter)
}

function createOpencodeReader(dataDir: string, dir: string): TranscribedReader<never> {
  const findCopies = createCopyFinder()
  /** What was found the last time, as long as nothing changed. */
  let last: { readonly stamp: string; readonly sessions: readonly OpencodeSession[] } | undefined

  function stamp(): string {
    const { database, storage } = placesIn(dataDir)
    return `${stampOfDatabase(database)} ${stampOfStorage(storage)}`
  }

  return {
    agent: 'opencode',
    folders(under) {
      const root = realDir(dataDir)
      const isUnder = under === undefined || root === under || root.startsWith(`${under}${sep}`)
      return isUnder && isFolder(root) ? [root] : []
    },
    stamp,
    open(): Originals<never> {
      const { database, storage } = placesIn(dataDir)
      const now = stamp()
      const problems: SourceProblem[] = []
      let rows: readonly OpencodeRows[] | undefined
      const open = (): readonly OpencodeRows[] => {
        rows ??= openAll(database, storage, dir)
        return rows
      }
      const close = (): void => {
        for (const each of rows ?? []) each.close()
        rows = undefined
      }
      if (last?.stamp !== now) {
        last = undefined
        try {
          last = { stamp: now, sessions: mergeById(open().flatMap(({ sessions }) => sessions)) }
        } catch (error) {
          problems.push(toProblem(database, error))
        }
      }
      const sessions = last?.sessions ?? []
      return {
        originals: sessions.map(({ id, directory, parentId, title, archived, stamp: own }) => {
          return { id, stamp: own, workdir: directory, parentId, title, archived }
        }),
        problems,
        isComplete: problems.length === 0,
        transcribe({ id }) {
          const read = (): readonly string[] => {
            const session = sessions.find((each) => each.id === id)
            const holder = open().find((each) => each.sessions.some((own) => own.id === id))
            if (session === undefined || holder === undefined) throw notThere(id)
            const messages = holder.messagesOf(id)
            return transcribeOpencode(session, messages, findCopies(session, messages, { sessions, holder }))
          }
          try {
            return { lines: read(), isWhole: true }
          } catch {
            // It may have begun to run just now: then it is opened in another way.
            close()
            return { lines: read(), isWhole: true }
          }
        },
        close,
      }
    },
  }
}

function placesIn(dataDir: string): { readonly database: string; readonly storage: string } {
  const root = realDir(dataDir)
  return { database: join(root, 'opencode.db'), storage: join(root, 'storage') }
}

function openAll(database: string, storage: string, dir: string): readonly OpencodeRows[] {
  const rows = existsSync(database) ? [openDatabase(database, dir)] : []
  return existsSync(storage) ? [...rows, openStorage(storage)] : rows
}

/** What is in the database is newer than a file of the same session. */
function mergeById(sessions: readonly OpencodeSession[]): readonly OpencodeSession[] {
  return [...new Map(sessions.toReversed().map((session) => [session.id, session])).values()].toReversed()
}

function toProblem(path: string, error: unknown): SourceProblem {
  const message = error instanceof Error ? error.message : String(error)
  const hint =
    error instanceof ThroughlineError
      ? error.hint
      : 'Nothing else is affected. Check that you may read it, and try again when opencode does not run.'
  return { path, message: `cannot be read: ${message}`, hint }
}

function notThere(id: string): ThroughlineError {
  return new ThroughlineError('transcript-gone', `opencode has no session ${id} any more`, {
    hint: 'List the sessions again with `throughline ls`.',
  })
}

/** The folder itself may be a link. */
function realDir(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isFolder(path: string): boolean {
  return findStats(path)?.isDirectory() ?? false
}
