import { costOf, sumCosts, type Cost, type Purse } from './wake-up-budget.ts'
import {
  renderItem,
  WAKE_UP_SECTIONS,
  type CarriedDocument,
  type LeftDocument,
  type LeftReason,
  type SessionOrigin,
  type WakeUpContext,
  type WakeUpSection,
} from '#model'

/** A document that may enter a wake-up, with what is known about how much it matters. */
export interface WakeUpCandidate {
  readonly id: string
  readonly section: WakeUpSection
  readonly text: string
  /** One line for it, used when the whole is too long. */
  readonly short?: string
  readonly pinned: boolean
  /** Relevance, use and age in one number; more is better, and nothing above 0 is needed. */
  readonly score: number
  readonly expiresAt?: string
  /** Why it is held back, whatever its score: quarantined, retired, superseded, not for this agent. */
  readonly held?: string
  /** Ids of documents that say otherwise. They come along, or it stays out. */
  readonly contradicts?: readonly string[]
  readonly note?: string
  /** Who wrote it and where, when that was not here. */
  readonly elsewhere?: SessionOrigin
}

export interface PickedDocuments {
  readonly contexts: readonly WakeUpContext[]
  readonly carried: readonly CarriedDocument[]
  readonly left: readonly LeftDocument[]
}

export interface PickOptions {
  readonly purse: Purse
  /** The part of it that other people's documents are paid from. */
  readonly others: Purse
  /** Tokens of one document at most. */
  readonly item: number
  readonly now: number
  /** A text as it may leave; `undefined` when it may not. */
  readonly clean: (text: string) => string | undefined
}

interface Form {
  readonly form: 'full' | 'short'
  readonly text: string
  readonly cost: Cost
}

interface Taken {
  readonly candidate: WakeUpCandidate
  readonly chosen: Form
}

/**
 * Chooses documents: pinned ones first, then by score for their length; whole or as their one line, never cut. Those
 * that contradict each other travel together. The order in which they are given does not matter.
 */
export function pickDocuments(candidates: readonly WakeUpCandidate[], options: PickOptions): PickedDocuments {
  const left = new Map<string, LeftDocument>()
  const taken = new Map<string, Taken>()
  const opened = new Set<WakeUpSection>()
  const leave = ({ id, section }: WakeUpCandidate, reason: LeftReason, detail?: string): void => {
    left.set(id, { id, section, reason, ...(detail === undefined ? {} : { detail }) })
  }
  const open = candidates.filter((candidate) => {
    if (candidate.held !== undefined) leave(candidate, 'held', candidate.held)
    else if (isOver(candidate, options.now)) leave(candidate, 'expired')
    else return true
    return false
  })
  const groups = toGroups(open)
  for (const candidate of open.toSorted(byWeight)) {
    if (taken.has(candidate.id) || left.has(candidate.id)) continue
    const group = groups.get(candidate.id) ?? [candidate]
    const forms = group.map((member) => toForms(noted(member, group.length), options))
    const chosen = chooseForms(forms, {
      group,
      opened,
      purse: group.some(isOthers) ? options.others : options.purse,
    })
    group.forEach((member, index) => {
      const form = chosen?.[index]
      if (form !== undefined) taken.set(member.id, { candidate: noted(member, group.length), chosen: form })
      else leave(member, reasonOf(forms, index))
    })
    if (chosen !== undefined) group.forEach(({ section }) => opened.add(section))
  }
  return toPicked([...taken.values()], [...left.values()])
}

function isOthers({ elsewhere }: WakeUpCandidate): boolean {
  return elsewhere?.mine === false
}

function isOver({ expiresAt }: WakeUpCandidate, now: number): boolean {
  const at = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt)
  return at <= now
}

function byWeight(a: WakeUpCandidate, b: WakeUpCandidate): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1
  return weightOf(b) - weightOf(a) || compare(a.id, b.id)
}

function weightOf({ score, text }: WakeUpCandidate): number {
  return score / Math.sqrt(text.length + 16)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Who contradicts whom, and whom those contradict: each with all of its group. */
function toGroups(candidates: readonly WakeUpCandidate[]): ReadonlyMap<string, readonly WakeUpCandidate[]> {
  const byId = new Map(candidates.map((candidate) => [candidate.id, candidate]))
  const near = new Map<string, Set<string>>()
  for (const { id, contradicts = [] } of candidates) {
    for (const other of contradicts) {
      if (other === id || !byId.has(other)) continue
      near.set(id, (near.get(id) ?? new Set()).add(other))
      near.set(other, (near.get(other) ?? new Set()).add(id))
    }
  }
  const groups = new Map<string, readonly WakeUpCandidate[]>()
  for (const id of near.keys()) {
    if (groups.has(id)) continue
    const members = new Set([id])
    for (const member of members) for (const other of near.get(member) ?? []) members.add(other)
    const group = [...members].toSorted(compare).flatMap((member) => byId.get(member) ?? [])
    for (const member of members) groups.set(member, group)
  }
  return groups
}

const DISAGREES = 'disagrees with another note here, nobody has decided'

function noted(candidate: WakeUpCandidate, size: number): WakeUpCandidate {
  if (size === 1) return candidate
  const note = candidate.note === undefined ? DISAGREES : `${candidate.note}; ${DISAGREES}`
  return { ...candidate, note }
}

/** The forms that are short enough, the best first; `undefined` when it may not leave at all. */
function toForms(candidate: WakeUpCandidate, { item, clean }: PickOptions): readonly Form[] | undefined {
  const forms: Form[] = []
  for (const form of ['full', 'short'] as const) {
    const words = form === 'full' ? candidate.text : candidate.short
    if (words === undefined || words.length > item * 64) continue
    const text = clean(words)
    if (text === undefined) return undefined
    const cost = costOf(`${renderItem({ ...candidate, text })}\n`)
    if (cost.tokens <= item) forms.push({ form, text, cost })
  }
  return forms
}

interface Choice {
  readonly group: readonly WakeUpCandidate[]
  readonly opened: ReadonlySet<WakeUpSection>
  readonly purse: Purse
}

/** All of a group, first in full, then in short; or nobody. */
function chooseForms(
  forms: readonly (readonly Form[] | undefined)[],
  { group, opened, purse }: Choice,
): readonly Form[] | undefined {
  for (const best of [0, 1]) {
    const chosen = forms.flatMap((each) => each?.[Math.min(best, each.length - 1)] ?? [])
    if (chosen.length < forms.length) return undefined
    const frames = new Set(group.map(({ section }) => section).filter((section) => !opened.has(section)))
    const costs = [...chosen.map(({ cost }) => cost), ...[...frames].map(frameCost)]
    if (purse.spend(sumCosts(costs))) return chosen
  }
  return undefined
}

function frameCost(section: WakeUpSection): Cost {
  return costOf(`\n\n<context category="${section}" document-count="99999">\n</context>`)
}

function reasonOf(forms: readonly (readonly Form[] | undefined)[], index: number): LeftReason {
  const own = forms[index]
  if (own === undefined) return 'not-redacted'
  if (own.length === 0) return 'too-long'
  return forms.every((each) => each !== undefined && each.length > 0) ? 'budget' : 'contradiction-left-out'
}

/** Pinned ones first and then by id: the same documents always make the same text. */
function toPicked(taken: readonly Taken[], left: readonly LeftDocument[]): PickedDocuments {
  const ordered = taken.toSorted(
    ({ candidate: a }, { candidate: b }) => Number(b.pinned) - Number(a.pinned) || compare(a.id, b.id),
  )
  const inSection = (section: WakeUpSection): readonly Taken[] =>
    ordered.filter(({ candidate }) => candidate.section === section)
  return {
    contexts: WAKE_UP_SECTIONS.map((section) => ({
      section,
      items: inSection(section).map(({ candidate: { note }, chosen }) => ({
        text: chosen.text,
        ...(note === undefined ? {} : { note }),
      })),
    })).filter(({ items }) => items.length > 0),
    carried: WAKE_UP_SECTIONS.flatMap(inSection).map(({ candidate, chosen }) => ({
      id: candidate.id,
      section: candidate.section,
      tokens: chosen.cost.tokens,
      form: chosen.form,
      ...(candidate.elsewhere === undefined
        ? {}
        : { author: candidate.elsewhere.person, machine: candidate.elsewhere.machine }),
    })),
    left: left.toSorted((a, b) => compare(a.id, b.id)),
  }
}
