import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogueChange, IndexTask, SessionIndex } from '#ingest'
import { ownSince, transcriptsOf, type SessionSummary } from '#model'
import { INDEX_VERSION } from '#store'

/** What the index is told of the transcripts of a session. */
export function toTasks(session: SessionSummary): readonly IndexTask[] {
  const { agent, id } = session
  // What other machines have is in the index of the team.
  if (session.origin !== undefined) return []
  // Of a message that two sessions have, the older one is billed.
  const createdAt = ownSince(session) ?? ''
  return [
    { path: session.path, agent, session: id, createdAt },
    ...session.subagents.map(({ id: subagent, path }) => ({ path, agent, session: id, subagent, createdAt })),
  ]
}

/** Tells the index what became of a session's files. */
export function tellIndex(index: SessionIndex | undefined, change: CatalogueChange): void {
  const { session } = change
  if (change.kind === 'moved') moveFiles(index, change.from, session)
  else if (change.kind === 'removed') for (const path of transcriptsOf(session)) index?.forget(path)
  else {
    const files = new Set(change.files)
    for (const task of toTasks(session)) if (files.has(task.path)) index?.touch(task)
  }
}

/** A session's files have other names now, mostly with the same bytes: what is indexed of them stays. */
export function moveFiles(
  index: Pick<SessionIndex, 'touch' | 'forget' | 'move'> | undefined,
  from: SessionSummary,
  to: SessionSummary,
): void {
  if (to.origin !== undefined) {
    // It is here no longer.
    for (const path of transcriptsOf(from)) index?.forget(path)
    return
  }
  const kept = new Map(to.subagents.map(({ id, path }) => [id, path]))
  index?.move(from.path, to.path)
  for (const { id, path } of from.subagents) {
    const target = kept.get(id)
    if (target === undefined) index?.forget(path)
    else index?.move(path, target)
  }
  // They are read on if they are the same bytes, else anew.
  for (const task of toTasks(to)) index?.touch(task)
}

/** Where what is known of the sessions is left for the next process. */
export function cataloguePath(home: string): string {
  return join(home, `catalogue.v${CATALOGUE_VERSION}.json`)
}

const CATALOGUE_VERSION = 1

/** An index of an older version is of no use to anybody. One of a newer version belongs to who comes back to it. */
export function dropOldIndexes(home: string): void {
  let names: readonly string[] = []
  try {
    names = readdirSync(home)
  } catch {
    // It is not there, or nothing can be opened right now: the index itself will say so.
  }
  for (const name of names) {
    const version = Number(/^index\.v(\d+)\.db/.exec(name)?.[1] ?? INDEX_VERSION)
    if (version < INDEX_VERSION) rmSync(join(home, name), { force: true })
  }
}

/** Makes folders of the home, for its owner alone. A home that takes nothing is told elsewhere. */
export function makeFolders(paths: readonly string[]): void {
  try {
    for (const path of paths) mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch {
    // What is not there is looked for again by the sweep.
  }
}
