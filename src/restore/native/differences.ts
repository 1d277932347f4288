import type { Loss, LossKind, Origin } from '#model'
import type { Said } from '../said.ts'
import { toSoundText } from '../sound-text.ts'
import { align, type Pair } from './alignment.ts'
import { joined, toCallIds, toThings, wordsOf, type Result, type Thing, type What } from './things.ts'

/**
 * What a session that was written for an agent says otherwise than the conversation it was made of, block by block:
 * texts, thinking, calls, results with what they hold, images, documents. Both are what the readers make of them.
 * What is among the losses already is not told twice; nothing means that the rest is there as it was.
 */
export function findUntold(said: Said, written: Said, losses: readonly Loss[]): readonly Loss[] {
  const there = new Set(toCallIds(written))
  const ids = new Set(toCallIds(said).filter((id) => there.has(id)))
  const book = createBook(losses)
  const source = toThings(said, ids).filter(
    ({ what, origin }) => what === 'result' || book.findTold(origin, what) !== 'dropped',
  )
  const copy = toThings(written, ids)
  const isApart = source.some(
    (thing) => isThinking(thing) && book.findTold(thing.origin, 'thinking') === 'changed',
  )
  if (!isApart) tellAll(joined(source), joined(copy), book)
  else {
    const isOther = (thing: Thing): boolean => !isThinking(thing)
    tellAll(source.filter(isThinking), copy.filter(isThinking), book)
    tellAll(joined(source.filter(isOther)), joined(copy.filter(isOther)), book)
  }
  return book.untold
}

/** Where thinking is kept as something to look at, it is kept beside the rest. */
function isThinking({ what }: Thing): boolean {
  return what === 'thinking'
}

function tellAll(source: readonly Thing[], copy: readonly Thing[], book: Book): void {
  const pairs = align(source, copy)
  let at = 0
  let other = 0
  for (const [one, same] of [...pairs, [source.length, copy.length] as const]) {
    tellGap(source.slice(at, one), copy.slice(other, same), book)
    at = one + 1
    other = same + 1
  }
  tellMispaired({ source, copy }, { pairs, book })
}

/** The losses that were told, by what they can stand for, and those that were not. */
interface Book {
  readonly untold: readonly Loss[]
  /** How a thing is told to be other than it was. */
  findTold(origin: Origin, what: What | 'words'): Loss['how'] | undefined
  /** Whether something more was told to be added. It counts once. */
  takeAdded(): boolean
  tell(thing: Pick<Thing, 'what' | 'origin'>, how: Loss['how'], why: string): void
}

/** Which losses stand for which things. */
const TOLD: Readonly<Record<What | 'words', ReadonlySet<LossKind>>> = {
  text: new Set(['empty-text', 'broken-text', 'context']),
  thinking: new Set(['thinking', 'broken-text']),
  call: new Set(['tool-name', 'tool-input', 'broken-text']),
  result: new Set(['error-mark']),
  words: new Set(['empty-text', 'broken-text', 'media', 'unknown-block']),
  media: new Set(['media', 'broken-text']),
  unknown: new Set(['unknown-block', 'media', 'context', 'order']),
}

const KINDS: Readonly<Record<What, LossKind>> = {
  text: 'text',
  thinking: 'thinking',
  call: 'call',
  result: 'result',
  media: 'media',
  unknown: 'unknown-block',
}

function createBook(losses: readonly Loss[]): Book {
  const told = new Map<string, Loss[]>()
  for (const loss of losses) {
    const key = toKey(loss.origin)
    told.set(key, [...(told.get(key) ?? []), loss])
  }
  let added = losses.filter(({ how, kind }) => how === 'added' && kind !== 'pending-call').length
  const untold: Loss[] = []
  return {
    untold,
    findTold(origin, what) {
      const mine = (told.get(toKey(origin)) ?? []).filter(
        ({ kind, how }) => TOLD[what].has(kind) && how !== 'added',
      )
      return mine.find(({ how }) => how === 'changed')?.how ?? mine[0]?.how
    },
    takeAdded: () => added-- > 0,
    tell: ({ what, origin }, how, why) => untold.push({ kind: KINDS[what], origin, how, why }),
  }
}

function toKey({ entryId, index }: Origin): string {
  return `${String(index)} ${entryId}`
}

const NAMES: Readonly<Record<What, string>> = {
  text: 'the text',
  thinking: 'the thinking',
  call: 'the tool call',
  result: 'the tool result',
  media: 'the image or document',
  unknown: 'a block of an unknown kind',
}

/** What stands between two things that are the same: what was told about it, and what was not. */
function tellGap(source: readonly Thing[], copy: readonly Thing[], book: Book): void {
  const left = [...copy]
  for (const thing of source) {
    const { what, origin, result, more = [] } = thing
    const told =
      result === undefined
        ? [origin, ...more].map((each) => book.findTold(each, what)).find((how) => how !== undefined)
        : undefined
    const at = left.findIndex((other) => isFormOf(other, thing, told))
    const [other] = at < 0 ? [] : left.splice(at, 1)
    if (other === undefined) book.tell(thing, 'dropped', `${NAMES[what]} is missing from the written session`)
    else if (result !== undefined && other.result !== undefined)
      tellInside(origin, [result, other.result], book)
    else if (told === undefined) book.tell(thing, 'changed', `${NAMES[what]} differs in the written session`)
  }
  for (const other of left) {
    if (book.takeAdded()) continue
    const origin = source.at(-1)?.origin ?? { entryId: '', index: 0 }
    book.tell({ ...other, origin }, 'added', `${NAMES[other.what]} is in the written session only`)
  }
}

const CAN_BE_TEXT: ReadonlySet<What> = new Set(['media', 'unknown'])

/** Whether something in the copy can be what became of a thing: images and documents become words. */
function isFormOf(other: Thing, thing: Thing, told: Loss['how'] | undefined): boolean {
  return (
    other.what === thing.what || (told === 'changed' && CAN_BE_TEXT.has(thing.what) && other.what === 'text')
  )
}

function tellInside(origin: Origin, [result, copy]: readonly [Result, Result], book: Book): void {
  const isTold = (what: What | 'words'): boolean => book.findTold(origin, what) !== undefined
  const tell = (what: What, how: Loss['how'], why: string): void => book.tell({ what, origin }, how, why)
  if (result.isError !== copy.isError && !isTold('result'))
    tell('result', 'changed', 'whether the tool call failed differs in the written session')
  const isGrown = wordsOf(result) !== wordsOf(copy)
  if (isGrown && !(isTold('words') && isWithin(result, copy)))
    tell('result', 'changed', 'the text of the tool result differs in the written session')
  const left = copy.rest.map(({ key }) => key)
  let missing = 0
  for (const { what, key } of result.rest) {
    const at = left.indexOf(key)
    if (at >= 0) left.splice(at, 1)
    else if (!isTold(what)) tell(what, 'dropped', `${NAMES[what]} in the tool result is missing`)
    // What is told to be another is there in some form: among the words, or as something else.
    else if (book.findTold(origin, what) === 'changed') missing++
  }
  if (missing > 0 && left.length === 0 && !isGrown)
    tell('media', 'dropped', 'nothing stands for what the tool result held beside its text')
  if (left.length > missing) tell('media', 'added', 'the tool result holds more than it did')
}

/** Whether all texts are there in their order, with others between them. What is not sound is replaced. */
function isWithin({ texts }: Result, copy: Result): boolean {
  const words = wordsOf(copy)
  let from = 0
  return texts.every((text) => {
    const wanted = toSoundText(text).trim()
    const at = words.indexOf(wanted, from)
    from = at + wanted.length
    return at >= 0
  })
}

/** Results that answer another call than they did. */
function tellMispaired(
  { source, copy }: { readonly source: readonly Thing[]; readonly copy: readonly Thing[] },
  { pairs, book }: { readonly pairs: readonly Pair[]; readonly book: Book },
): void {
  const copyOf = new Map(pairs)
  const callOf = toCalls(source)
  const callInCopyOf = toCalls(copy)
  for (const [at, same] of pairs) {
    const thing = source[at]
    const call = callOf.get(at)
    const copied = call === undefined ? undefined : copyOf.get(call)
    if (thing === undefined || copied === undefined || callInCopyOf.get(same) === copied) continue
    book.tell(thing, 'changed', 'the tool result answers another call in the written session')
  }
}

/** The place of the call that each result answers. */
function toCalls(things: readonly Thing[]): ReadonlyMap<number, number> {
  const calls = new Map<string, number>()
  const found = new Map<number, number>()
  for (const [at, { what, callId }] of things.entries()) {
    if (callId === undefined) continue
    if (what === 'call') calls.set(callId, at)
    const call = calls.get(callId)
    if (what === 'result' && call !== undefined) found.set(at, call)
  }
  return found
}
