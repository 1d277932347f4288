import { join } from 'node:path'
import { transcriptsOf, type SessionSummary } from '#model'
import type { SessionFiles, SourceProblem } from '#sources'
import { createActivityOrder } from './catalogue/activity-order.ts'
import { createRows } from './catalogue/rows.ts'
import { createTurns } from './catalogue/turns.ts'
import {
  allow,
  changedSides,
  createRow,
  doublesOf,
  isDouble,
  isLeftOut,
  isRenamed,
  isStale,
  mayShow,
  rowAround,
  sidePart,
  sizeOf,
  sureStamp,
  takeNews,
  toShown,
  withSides,
  type CatalogueOptions,
  type Row,
  type RowFacts,
  type SweepShare,
} from './catalogue-row.ts'
import { findAll, type Findings } from './findings.ts'
import { createFollowedFiles, type FollowedFile } from './followed-file.ts'
import { readRemembered, stampOf, writeRemembered } from './remembered.ts'
import { copiesOf, factsOf, isCopy } from './row-facts.ts'
import { createSlices } from './slices.ts'

/** Every session there is, as it is now, without asking the disk. */
export interface Catalogue {
  /** Most recently active first. The same objects as before for sessions that did not change. */
  sessions(): readonly SessionSummary[]
  byPath(path: string): SessionSummary | undefined
  /** The files of the session whose transcript this is. */
  filesOf(path: string): SessionFiles | undefined
  problems(): readonly SourceProblem[]
  /** Recordings that are not shown, each with the session it is of, which is. */
  doubles(): ReadonlyMap<string, string>
  /** Copies that are not among the sessions, because nothing was said in them that their originals do not have. */
  copies(): readonly SessionSummary[]
  /** Looks at everything anew: what hints missed is found. With a `share`, at that part of the files that are quiet. */
  sweep(share?: SweepShare): Promise<void>
  /** Something may have changed: this name in this folder. */
  hint(dir: string, name: string | undefined): void
  /** What is known from elsewhere changed: live states, names, counts. Of these sessions, or of all. */
  refresh(ids?: Iterable<string>): void
  /** Follows a session's file, or a subagent's. `undefined` when there is no such file. */
  follow(path: string): FollowedFile | undefined
  /** Resolves when every hint so far was worked off. */
  settled(): Promise<void>
  /** Leaves what is known for the next process. */
  remember(): Promise<void>
  close(): void
}

/** Opens the catalogue: it is complete when this resolves. */
export async function openCatalogue(options: CatalogueOptions): Promise<Catalogue> {
  const rows = createRows()
  const order = createActivityOrder<SessionSummary>()
  /** Those that are not shown: they may not be, or others are in their place. */
  const hidden = new Set<Row>()
  const followed = createFollowedFiles(rows.byPath, options)
  /** Looks at files beside a transcript that are under way. */
  const sides = new Set<Promise<void>>()
  const roots = options.sources.map(({ source }) => source.root)
  const turns = createTurns((id) => {
    for (const row of rows.ofId(id)) if (isStale(row, factsNow(row))) show(row, [])
  })
  let findings: Findings | undefined
  let discovering: Promise<void> | undefined
  let discoverAgain = false
  /** What the next look may leave out. */
  let due: SweepShare | undefined
  let isOpen = false
  let dirty = false

  async function discover(): Promise<void> {
    const remembered =
      isOpen || options.rememberedPath === undefined ? undefined : readRemembered(options.rememberedPath)
    const { found } = (findings = await findAll(options.sources, findings, options.now()))
    const missing = new Map<string, Row>()
    for (const [path, row] of rows.byPath) if (!found.has(path)) missing.set(row.files.id, row)
    for (const [path, row] of rows.byPath) if (isRenamed(row, found.get(path)?.files)) remove(row)
    const slices = createSlices()
    let nth = 0
    const share = due
    due = undefined
    for (const [path, { from, files }] of found) {
      if (slices.isOver()) await slices.next()
      const row = rows.byPath.get(path)
      if (isLeftOut(row, share, nth++)) continue
      const stamp = stampOf(files)
      if (row !== undefined) for (const side of changedSides(row)) startSide(row, side)
      if (stamp === undefined || (row?.stamp === stamp && !row.isChanged)) continue
      if (row !== undefined) {
        row.files = files
        void fileOf(row).refresh()
        continue
      }
      const kept = remembered?.find(files, stamp)
      const summary = kept ?? from.source.look(files)
      const isAllowed = await mayShow(from, summary, options.isAllowed)
      dirty ||= kept === undefined
      const added = createRow({ from, files, stamp, summary, isAllowed })
      rows.add(added)
      const former = missing.get(files.id)
      if (former?.shown === undefined || !isAllowed) show(added, transcriptsOf(summary))
      else replace(former, added)
      missing.delete(files.id)
    }
    for (const row of missing.values()) remove(row)
    for (const [path, row] of rows.byPath) if (!found.has(path)) drop(row)
    // What was recorded or copied of a session that came or went otherwise.
    for (const row of rows.byPath.values()) {
      if (slices.isOver()) await slices.next()
      const isOther = row.facts?.copiedFrom !== undefined && isStale(row, factsNow(row))
      if (isOther || isShown(row) !== (row.shown !== undefined)) show(row, [])
    }
  }

  function factsNow(row: Row): RowFacts {
    return factsOf(row, rows, options)
  }

  function isShown(row: Row): boolean {
    return row.isAllowed && !isDouble(row, findings?.own) && !isCopy(row, rows, options)
  }

  function show(row: Row, files: readonly string[]): void {
    // It was looked at while it went.
    if (rows.byPath.get(row.files.path) !== row) return
    const before = row.shown
    row.shown = isShown(row) ? toShown(row, factsNow(row)) : undefined
    order.change(before, row.shown)
    if (row.shown === undefined) hidden.add(row)
    else hidden.delete(row)
    if (!isOpen) return
    const grown = before === undefined ? transcriptsOf(row.summary) : files
    if (row.shown !== undefined) options.onChange({ kind: 'changed', session: row.shown, files: grown })
    else if (before !== undefined) options.onChange({ kind: 'removed', session: before })
  }

  function drop(row: Row): void {
    rows.remove(row)
    hidden.delete(row)
    order.change(row.shown, undefined)
  }

  function remove(row: Row): void {
    drop(row)
    dirty = true
    if (row.shown !== undefined) options.onChange({ kind: 'removed', session: row.shown })
  }

  /** The same session, in another file. */
  function replace(former: Row, row: Row): void {
    rows.remove(former)
    dirty = true
    row.shown = toShown(row, factsNow(row))
    order.change(former.shown, row.shown)
    if (former.shown !== undefined)
      options.onChange({ kind: 'moved', session: row.shown, from: former.shown })
  }

  async function rediscover(): Promise<void> {
    if (discovering !== undefined) {
      discoverAgain = true
      due = undefined
      return discovering
    }
    discovering = (async () => {
      do {
        discoverAgain = false
        await discover()
      } while (discoverAgain)
    })().finally(() => {
      discovering = undefined
    })
    return discovering
  }

  function fileOf(row: Row): FollowedFile {
    row.file ??= followed.own({
      path: row.files.path,
      format: row.from.source.format,
      size: row.summary.size,
      onEvent: (event) => takeNews(row, event),
      onLooked: () => finishLook(row),
    })
    return row.file
  }

  async function finishLook(row: Row): Promise<void> {
    const stamp = stampOf(row.files)
    // Gone, unless it is back already.
    if (stamp === undefined && row.stamp === '') return rediscover()
    if (stamp === undefined || (stamp === row.stamp && !row.isChanged)) return
    const size = sizeOf(row.files.path) ?? row.summary.size
    // A line that is not whole is told to nobody, and a glance says that it is there.
    const isWhole = (row.file?.offset ?? 0) === size
    const isKnown = row.isFollowed && isWhole && row.stamp !== '' && row.summary.state !== 'unreadable'
    row.isFollowed = isWhole
    row.isChanged = false
    const before = new Set(transcriptsOf(row.summary))
    if (!isKnown || sidePart(stamp) !== sidePart(row.stamp)) {
      row.summary = row.from.source.look(row.files)
    } else row.summary = { ...row.summary, size }
    row.stamp = sureStamp({ ...row, stamp })
    dirty = true
    await allow(row, isKnown ? 'grown' : 'anew', options.isAllowed)
    show(row, [row.files.path, ...transcriptsOf(row.summary).filter((path) => !before.has(path))])
  }

  /** Something beside the transcript: a subagent's lines, a title. The transcript itself is not read for it. */
  async function refreshSide(row: Row, path: string): Promise<void> {
    if (row.summary.subagents.some((subagent) => subagent.path === path)) {
      const size = sizeOf(path)
      if (size !== undefined) {
        void followed.find(path)?.refresh()
        const subagents = row.summary.subagents.map((each) => (each.path === path ? { ...each, size } : each))
        row.summary = { ...row.summary, subagents }
        await allow(row, { subagent: path }, options.isAllowed)
        show(row, [path])
        return
      }
    }
    const { sessions } = await row.from.source.find()
    const files = sessions.find((each) => each.path === row.files.path)
    const stamp = files === undefined ? undefined : stampOf(files)
    if (files === undefined || stamp === undefined) return rediscover()
    const before = new Set(transcriptsOf(row.summary))
    row.files = files
    row.summary = withSides(row.summary, row.from.source.look(files))
    dirty = true
    await allow(row, 'anew', options.isAllowed)
    show(
      row,
      transcriptsOf(row.summary).filter((each) => !before.has(each)),
    )
  }

  function startSide(row: Row, path: string): void {
    // What cannot be looked at now is looked at again by the next sweep.
    const look = refreshSide(row, path).catch(() => undefined)
    sides.add(look)
    void look.finally(() => sides.delete(look))
  }

  /** The session a file or folder belongs to: its own transcript, or something beside it. */
  function rowOf(path: string): Row | undefined {
    return rowAround(path, rows.byPath, { sides: findings?.sides ?? new Map(), roots })
  }

  await rediscover()
  isOpen = true

  return {
    sessions: () => order.list(),
    byPath: (path) => rows.byPath.get(path)?.shown,
    filesOf: (path) => rows.byPath.get(path)?.files,
    problems: () => findings?.problems ?? [],
    doubles: () => doublesOf(hidden, findings?.own),
    copies: () => copiesOf(hidden, rows, options),
    async sweep(share) {
      due = share
      await rediscover()
      await Promise.all(followed.busy())
    },
    hint(dir, name) {
      const path = name === undefined ? undefined : join(dir, name)
      const row = path === undefined ? undefined : rowOf(path)
      if (path === undefined || row === undefined) void rediscover()
      else if (row.files.path === path) void fileOf(row).refresh()
      else startSide(row, path)
    },
    refresh: (ids) => turns.add([...(ids ?? rows.ids())]),
    follow(path) {
      const row = rowOf(path)
      if (row?.files.path === path) return fileOf(row)
      return row && followed.follow(path, row.from.source.format)
    },
    settled: () =>
      followed.settled(() => [...turns.busy(), ...(discovering === undefined ? sides : [discovering])]),
    async remember() {
      if (!dirty || options.rememberedPath === undefined) return
      dirty = false
      await writeRemembered(options.rememberedPath, [...rows.byPath.values()])
    },
    close() {
      turns.close()
      followed.close()
    },
  }
}
