import { isObject } from '#base'
import type { SessionFact, SessionView } from '#model'

/**
 * What one fact, and a whole view, may take on the way to those who look on: far less than a line may have, so that
 * neither ever cuts them off.
 */
const FACT_BYTES = 8 * 1024 * 1024
const VIEW_BYTES = 24 * 1024 * 1024
/** Texts that are longer are cut, the longest first, until it fits. */
const STEPS = [1_048_576, 262_144, 65_536, 8_192, 1_024]

/** A value that fits, and how many bytes of text were left out for that. */
export interface Carried<T> {
  readonly value: T
  readonly left: number
}

/** A fact as it is told to everybody: whole, or with long texts cut, which say so where they end. */
export function carryFact(fact: SessionFact): Carried<SessionFact> {
  // What a person decides on is shown whole or not at all.
  if (fact.kind === 'attention.opened') return { value: fact, left: 0 }
  return carry(fact, FACT_BYTES, notShown)
}

/** How things stand, for somebody who comes in. What waits for a person is in it as it is. */
export function carryView(view: SessionView): SessionView {
  const { attentions, ...rest } = view
  return { ...carry(rest, VIEW_BYTES, notShown).value, attentions }
}

function notShown(bytes: number): string {
  return `[${bytes} bytes are not shown here; they are in the transcript]`
}

/** A value of at most so many bytes as JSON, with its long texts cut; each ends with what `note` says of the rest. */
export function carry<T>(value: T, limit: number, note: (bytes: number) => string): Carried<T> {
  if (fits(value, limit)) return { value, left: 0 }
  for (const longest of STEPS) {
    let left = 0
    const cut = (text: string): string => {
      if (text.length <= longest) return text
      const kept = text.slice(0, longest / 2)
      const bytes = Buffer.byteLength(text) - Buffer.byteLength(kept)
      left += bytes
      return `${kept}…\n${note(bytes)}`
    }
    const carried = mapTexts(value, cut)
    if (fits(carried, limit)) return { value: carried, left }
  }
  // Nothing but very many small things is left of it: then they are gone, and their place says so.
  const bytes = Buffer.byteLength(JSON.stringify(value))
  return { value: dropLists(value, limit, note(bytes)), left: bytes }
}

function fits(value: unknown, limit: number): boolean {
  const json = JSON.stringify(value) ?? ''
  return json.length <= limit && (json.length <= limit / 4 || Buffer.byteLength(json) <= limit)
}

/** The same with other texts. Keys stay: they say what is what. */
function mapTexts<T>(value: T, change: (text: string) => string): T
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, change)]))
}

/** The same, where lists and fields that are still too large are replaced by a note. */
function dropLists<T>(value: T, limit: number, note: string): T
function dropLists(value: unknown, limit: number, note: string): unknown {
  if (!isObject(value)) return note
  const share = limit / 8
  const small = Object.entries(value).map(([key, inner]): readonly [string, unknown] => {
    if (fits(inner, share)) return [key, inner]
    if (Array.isArray(inner)) return [key, key === 'blocks' ? [{ kind: 'text', text: note }] : []]
    return [key, isObject(inner) ? dropLists(inner, share, note) : note]
  })
  return Object.fromEntries(small)
}
