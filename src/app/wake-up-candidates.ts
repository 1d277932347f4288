import { sep } from 'node:path'
import { toStems, type PreviousSession, type SpokenMessage, type WakeUpCandidate } from '#memory'
import { toDocumentState, type FileBinding, type MemoryDocument, type WakeUpSection } from '#model'
import type { BoundFile } from '#wire'
import { toBoundFile } from './bound-files.ts'

/** What documents are weighed by. The same gives the same candidates, in whatever order documents come. */
export interface Weighing {
  /** With all links resolved. */
  readonly workdir: string
  readonly agent: string
  readonly now: number
  /** What was said last, and what is going to be asked. */
  readonly talk: readonly string[]
  /** How many wake-ups carried each document. */
  readonly carried: ReadonlyMap<string, number>
  readonly boundFile?: (binding: FileBinding) => Promise<BoundFile>
}

/** How long something stays half as good, in days, by what its tags call it. What is not named is as good for ever. */
const HALF_LIFE: Readonly<Record<string, number>> = {
  decision: 365,
  procedure: 365,
  gotcha: 180,
  fact: 120,
  workaround: 60,
  status: 14,
  convention: Number.POSITIVE_INFINITY,
  preference: Number.POSITIVE_INFINITY,
}
const USUAL_HALF_LIFE = 180
const DAY_MS = 24 * 60 * 60 * 1000
/** Of the best so many the files are looked at: no more than these find room. */
const LOOKED_AT = 400
/** Carried so often and never said again, it begins to count for less. */
const PATIENCE = 5
/** What others say counts for a little less than what is said here. */
const OTHERS = 0.8
const SHORT = 160
const MOST_FILES = 16

/**
 * The documents that may enter a wake-up, with what is known about how much they matter: learnings and teachings, and
 * whatever is about who somebody is or how work is done. What is retired or superseded is not among them; what is held
 * back, or meant for somebody else, is, with the reason.
 */
export async function toCandidates(
  documents: readonly MemoryDocument[],
  weighing: Weighing,
): Promise<readonly WakeUpCandidate[]> {
  const open = documents.filter((document) => isCarried(document, weighing.now))
  const relevanceOf = createRelevance(
    open.map(({ content }) => content),
    weighing.talk,
  )
  const weighed = open
    .map((document) => ({
      document,
      held: heldBack(document, weighing),
      score: scoreOf(document, weighing) * (1 + 3 * relevanceOf(document.content)),
    }))
    .toSorted(
      (a, b) => Number(b.document.pinned) - Number(a.document.pinned) || b.score - a.score || byId(a, b),
    )
  const candidates: WakeUpCandidate[] = []
  let looked = 0
  for (const { document, held, score } of weighed) {
    // Of files on another machine nothing is known here.
    const isHere = document.elsewhere === undefined
    const hasFiles = isHere && held === undefined && (document.files ?? []).length > 0 && looked < LOOKED_AT
    if (hasFiles) looked += 1
    const state = hasFiles ? await stateOf(document, weighing.boundFile ?? toBoundFile) : 'same'
    candidates.push(toCandidate(document, { held, score: state === 'same' ? score : score / 2, state }))
  }
  return candidates
}

/**
 * Messages with how much they matter for what is going to be asked; those that something was learned from matter too.
 */
export function withScores(
  previous: PreviousSession,
  prompt: string | undefined,
  learnedFrom: ReadonlySet<string>,
): PreviousSession {
  if (prompt === undefined && learnedFrom.size === 0) return previous
  const beginnings = previous.messages.map(({ text }) => text.slice(0, LOOKED_INTO))
  const relevanceOf = prompt === undefined ? () => 0 : createRelevance(beginnings, [prompt])
  const scores = previous.messages.map(({ id }, index) => {
    return relevanceOf(beginnings[index] ?? '') + (learnedFrom.has(id) ? 1 : 0)
  })
  const least = scores.toSorted((a, b) => b - a)[MOST_SCORED] ?? 0
  return {
    ...previous,
    messages: previous.messages.map((message, index): SpokenMessage => {
      const score = scores[index] ?? 0
      return score > least ? { ...message, score } : message
    }),
  }
}

/** More than find room. */
const MOST_SCORED = 64
/** A message says early what it is about. */
const LOOKED_INTO = 4000

/** Of other people, what they teach and what they learned; nothing of those whom nobody wants to hear of. */
export function isFromOthers({ type, scope, elsewhere }: MemoryDocument, muted: readonly string[]): boolean {
  if (type !== 'learning' && type !== 'teaching') return false
  return scope !== undefined && elsewhere !== undefined && !muted.includes(elsewhere.person)
}

function isCarried(document: MemoryDocument, now: number): boolean {
  const state = toDocumentState(document, now)
  if (state === 'retired' || state === 'superseded') return false
  switch (document.type) {
    case 'learning':
    case 'teaching':
      return true
    case 'marker':
      return document.category === 'identity' || document.category === 'operational'
    case 'artifact':
    case 'message':
      return false
  }
}

function sectionOf({ type, category }: MemoryDocument): WakeUpSection {
  if (type === 'teaching') return 'teaching'
  return category === 'transcript' ? 'knowledge' : category
}

function heldBack(document: MemoryDocument, { agent, workdir }: Weighing): string | undefined {
  if (document.quarantine !== undefined) return document.quarantine
  const { agents = [], workdirs = [] } = document.audience ?? {}
  if (agents.length > 0 && !agents.includes(agent)) return 'meant for another agent'
  if (workdirs.length > 0 && !workdirs.some((folder) => isInside(workdir, folder))) {
    return 'meant for another folder'
  }
  // Who somebody is does not depend on where they work.
  if (document.category === 'identity' || folderWeight(document, workdir) > 0) return undefined
  return 'learned in another folder'
}

function isInside(folder: string, root: string): boolean {
  return folder === root || folder.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)
}

function folderWeight({ workdir: learnedIn }: MemoryDocument, workdir: string): number {
  if (learnedIn === undefined) return 1
  if (learnedIn === workdir) return 1.5
  if (isInside(workdir, learnedIn)) return 1.2
  return isInside(learnedIn, workdir) ? 0.8 : 0
}

function scoreOf(document: MemoryDocument, { workdir, now, carried }: Weighing): number {
  const used = document.confirmations.length
  const idle = used > 0 ? 0 : Math.max(0, (carried.get(document.id) ?? 0) - PATIENCE)
  const said = document.speakerType === 'human' ? 1.3 : 1
  const author = document.elsewhere?.mine === false ? said * OTHERS : said
  return (
    (folderWeight(document, workdir) || 1) *
    author *
    ageWeight(document, now) *
    (1 + Math.log1p(used)) *
    0.97 ** Math.min(idle, 20)
  )
}

/** By whole days, so that the same day gives the same text. */
function ageWeight({ type, category, tags, updatedAt }: MemoryDocument, now: number): number {
  if (type === 'teaching' || category === 'identity') return 1
  const lives = tags.flatMap((tag) => HALF_LIFE[tag.toLowerCase()] ?? [])
  const halfLife = lives.length === 0 ? USUAL_HALF_LIFE : Math.min(...lives)
  const days = Math.floor(Math.max(0, now - (Date.parse(updatedAt) || 0)) / DAY_MS)
  return 2 ** (-days / halfLife)
}

/** How much of a text is in what was talked about, from 0 to 1; rare words count for more. */
function createRelevance(texts: readonly string[], talk: readonly string[]): (text: string) => number {
  const wanted = new Set(talk.flatMap(toStems))
  if (wanted.size === 0) return () => 0
  const found = new Map<string, number>()
  const stemsOf = new Map(texts.map((text) => [text, new Set(toStems(text))]))
  for (const stems of stemsOf.values()) {
    for (const stem of stems) found.set(stem, (found.get(stem) ?? 0) + 1)
  }
  const weightOf = (stem: string): number => Math.log(1 + stemsOf.size / (found.get(stem) ?? 1))
  return (text) => {
    let [shared, all] = [0, 0]
    for (const stem of stemsOf.get(text) ?? []) {
      const weight = weightOf(stem)
      all += weight
      if (wanted.has(stem)) shared += weight
    }
    return all === 0 ? 0 : shared / all
  }
}

async function stateOf(
  { files = [] }: MemoryDocument,
  boundFile: NonNullable<Weighing['boundFile']>,
): Promise<BoundFile['state']> {
  const bound = await Promise.all(files.slice(0, MOST_FILES).map(boundFile))
  const states = bound.map(({ state }) => state)
  return states.includes('gone') ? 'gone' : states.includes('changed') ? 'changed' : 'same'
}

const NOTES = { changed: 'its file has changed since', gone: 'its file is gone' } as const

function toCandidate(
  document: MemoryDocument,
  {
    held,
    score,
    state,
  }: { readonly held: string | undefined; readonly score: number; readonly state: BoundFile['state'] },
): WakeUpCandidate {
  const short = toShort(document.content)
  const { elsewhere } = document
  const notes = [
    ...(elsewhere?.mine === false ? [`from ${elsewhere.person}`] : []),
    ...(state === 'same' ? [] : [NOTES[state]]),
  ]
  return {
    id: document.id,
    section: sectionOf(document),
    text: document.content,
    ...(short === undefined ? {} : { short }),
    pinned: document.pinned,
    score,
    ...(document.expiresAt === undefined ? {} : { expiresAt: document.expiresAt }),
    ...(held === undefined ? {} : { held }),
    ...(document.contradicts.length === 0 ? {} : { contradicts: document.contradicts }),
    ...(notes.length === 0 ? {} : { note: notes.join('; ') }),
    ...(elsewhere === undefined ? {} : { elsewhere }),
  }
}

/** The first sentence of something long; nothing of what is short itself. */
function toShort(content: string): string | undefined {
  const [first = ''] = content.trim().split(/\n|(?<=[.!?])\s/, 1)
  if (first === content.trim()) return first.length > SHORT * 2 ? cut(first) : undefined
  return first.length > SHORT ? cut(first) : `${first} …`
}

function cut(text: string): string {
  const [kept = ''] = /^[^]*(?=\s)/.exec(text.slice(0, SHORT)) ?? [text.slice(0, SHORT)]
  return `${kept.trimEnd().replace(/[\uD800-\uDBFF]$/, '')} …`
}

function byId(a: { readonly document: MemoryDocument }, b: { readonly document: MemoryDocument }): number {
  return a.document.id < b.document.id ? -1 : 1
}
