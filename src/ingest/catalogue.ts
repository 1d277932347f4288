import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { byActivity, transcriptsOf, type SessionSummary } from '#model'
import type { SessionFiles, SourceProblem } from '#sources'
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
  resort,
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
import { createFollowedFile, createFollowedFiles, type FollowedFile } from './followed-file.ts'
import { readRemembered, stampOf, writeRemembered } from './remembered.ts'
import { copiesOf, factsOf, isCopy } from './row-facts.ts'

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
}

/** Files looked at before other work gets its turn. */
const BREATH = 64

/** Opens the catalogue: it is complete when this resolves. */
export async function openCatalogue(options: CatalogueOptions): Promise<Catalogue> {
  const rows = new Map<string, Row>()
  /** Subagents' files that somebody follows. */
  const besides = createFollowedFiles(options.meter)
  /** Looks at files beside a transcript that are under way. */
  const sides = new Set<Promise<void>>()
  const roots = options.sources.map(({ source }) => source.root)
  let findings: Findings | undefined
  let sorted: readonly SessionSummary[] | undefined
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
    for (const [path, row] of rows) if (!found.has(path)) missing.set(row.files.id, row)
    for (const [path, row] of rows) if (isRenamed(row, found.get(path)?.files)) remove(row)
    let looked = 0
    let nth = 0
    const share = due
    due = undefined
    for (const [path, { from, files }] of found) {
      const row = rows.get(path)
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
      if (kept === undefined && ++looked % BREATH === 0) await setImmediate()
      const summary = kept ?? from.source.look(files)
      const isAllowed = await mayShow(from, summary, options.isAllowed)
      dirty ||= kept === undefined
      const added = createRow({ from, files, stamp, summary, isAllowed })
      rows.set(path, added)
      const former = missing.get(files.id)
      if (former?.shown === undefined || !isAllowed) show(added, transcriptsOf(summary))
      else replace(former, added)
      missing.delete(files.id)
    }
    for (const row of missing.values()) remove(row)
    for (const path of rows.keys()) if (!found.has(path)) rows.delete(path)
    // What was recorded or copied of a session that came or went otherwise.
    for (const row of rows.values()) {
      const isOther = row.facts?.copiedFrom !== undefined && isStale(row, factsNow(row))
      if (isOther || isShown(row) !== (row.shown !== undefined)) show(row, [])
    }
  }

  function factsNow(row: Row): RowFacts {
    return factsOf(row, rows.values(), options)
  }

  function isShown(row: Row): boolean {
    return row.isAllowed && !isDouble(row, findings?.own) && !isCopy(row, rows.values(), options)
  }

  function show(row: Row, files: readonly string[]): void {
    const before = row.shown
    row.shown = isShown(row) ? toShown(row, factsNow(row)) : undefined
    sorted = sorted === undefined ? undefined : resort(sorted, before, row.shown)
    if (!isOpen) return
    const grown = before === undefined ? transcriptsOf(row.summary) : files
    if (row.shown !== undefined) options.onChange({ kind: 'changed', session: row.shown, files: grown })
    else if (before !== undefined) options.onChange({ kind: 'removed', session: before })
  }

  function remove(row: Row): void {
    rows.delete(row.files.path)
    sorted = undefined
    dirty = true
    if (row.shown !== undefined) options.onChange({ kind: 'removed', session: row.shown })
  }

  /** The same session, in another file. */
  function replace(former: Row, row: Row): void {
    rows.delete(former.files.path)
    sorted = undefined
    dirty = true
    row.shown = toShown(row, factsNow(row))
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
    row.file ??= createFollowedFile({
      path: row.files.path,
      format: row.from.source.format,
      size: row.summary.size,
      meter: options.meter,
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
        void besides.find(path)?.refresh()
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
    return rowAround(path, rows, { sides: findings?.sides ?? new Map(), roots })
  }

  await rediscover()
  isOpen = true

  return {
    sessions() {
      sorted ??= [...rows.values()]
        .flatMap(({ shown }) => (shown === undefined ? [] : [shown]))
        .toSorted(byActivity)
      return sorted
    },
    byPath: (path) => rows.get(path)?.shown,
    filesOf: (path) => rows.get(path)?.files,
    problems: () => findings?.problems ?? [],
    doubles: () => doublesOf(rows.values(), findings?.own),
    copies: () => copiesOf(rows.values(), options),
    async sweep(share) {
      due = share
      await rediscover()
      await Promise.all([...rows.values()].flatMap(({ file }) => file?.busy ?? []))
    },
    hint(dir, name) {
      const path = name === undefined ? undefined : join(dir, name)
      const row = path === undefined ? undefined : rowOf(path)
      if (path === undefined || row === undefined) void rediscover()
      else if (row.files.path === path) void fileOf(row).refresh()
      else startSide(row, path)
    },
    refresh(ids) {
      const wanted = ids === undefined ? undefined : new Set(ids)
      for (const row of rows.values()) {
        if ((wanted === undefined || wanted.has(row.summary.id)) && isStale(row, factsNow(row))) show(row, [])
      }
    },
    follow(path) {
      const row = rows.get(path)
      if (row !== undefined) return fileOf(row)
      const owner = rowOf(path)
      if (owner === undefined) return undefined
      return besides.follow(path, owner.from.source.format)
    },
    async settled() {
      for (;;) {
        const busy = [...[...rows.values()].flatMap(({ file }) => file?.busy ?? []), ...besides.busy()]
        if (discovering === undefined && busy.length === 0 && sides.size === 0) return
        await Promise.all([discovering, ...busy, ...sides])
      }
    },
    async remember() {
      if (!dirty || options.rememberedPath === undefined) return
      dirty = false
      await writeRemembered(options.rememberedPath, [...rows.values()])
    },
  }
}
