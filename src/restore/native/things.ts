import { isObject } from '#base'
import type { Block, Origin, ToolResultBlock } from '#model'
import type { Said, SaidBlock } from '../said.ts'

/** One thing that was said or done. */
export interface Thing {
  readonly what: What
  /** Equal when two things mean the same. */
  readonly key: string
  readonly origin: Origin
  /** Of a text in an answer. */
  readonly answer?: string | undefined
  /** Where else it stands: texts that follow each other are one. */
  readonly more?: readonly Origin[] | undefined
  /** Of calls and results: the id of the call. */
  readonly callId?: string | undefined
  readonly result?: Result | undefined
}

export type What = 'text' | 'thinking' | 'call' | 'result' | 'media' | 'unknown'

/** What a result holds. In which order its words and its media stand is up to the agent. */
export interface Result {
  readonly isError: boolean
  readonly texts: readonly string[]
  readonly rest: readonly { readonly what: What; readonly key: string }[]
}

/** Calls and results are told apart by the ids that both have. */
export function toThings({ messages }: Said, ids: ReadonlySet<string>): readonly Thing[] {
  return messages.flatMap(({ role, blocks }) => blocks.map((said) => toThing(role, said, ids)))
}

export function toCallIds({ messages }: Said): readonly string[] {
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap(({ block }) => (block.kind === 'tool-use' ? [block.id] : [])),
  )
}

function toThing(role: string, { block, origin }: SaidBlock, ids: ReadonlySet<string>): Thing {
  const idOf = (id: string): string => (ids.has(id) ? id : '')
  const thing = (what: What, meaning: string): Thing => ({ what, key: `${role} ${what} ${meaning}`, origin })
  switch (block.kind) {
    case 'text':
      return { ...thing('text', block.text), ...(role === 'assistant' ? { answer: block.text } : {}) }
    case 'thinking':
      return thing('thinking', block.thinking)
    case 'redacted-thinking':
      return thing('thinking', block.data)
    case 'tool-use':
      return {
        ...thing('call', `${idOf(block.id)} ${block.name} ${toOrdered(block.input)}`),
        callId: block.id,
      }
    case 'tool-result': {
      const result = toResult(block)
      return {
        ...thing('result', `${idOf(block.toolUseId)} ${toOrdered({ ...result, texts: wordsOf(result) })}`),
        callId: block.toolUseId,
        result,
      }
    }
    case 'image':
    case 'document':
    case 'unknown': {
      const { what, key } = toMedium(block)
      return thing(what, key)
    }
  }
}

function toResult({ content, isError }: ToolResultBlock): Result {
  const texts = content.flatMap((each) => (each.kind === 'text' ? [each.text] : []))
  const rest = content.flatMap((each) => (each.kind === 'text' ? [] : [toMedium(each)]))
  return {
    isError,
    texts,
    rest: rest.toSorted((one, other) => (one.key < other.key ? -1 : 1)),
  }
}

function toMedium(block: Block): { readonly what: What; readonly key: string } {
  if (block.kind === 'image') return { what: 'media', key: `image ${toOrdered(block.source)}` }
  if (block.kind === 'document')
    return { what: 'media', key: `document ${block.title ?? ''} ${toOrdered(block.source)}` }
  return { what: 'unknown', key: toOrdered(block.kind === 'unknown' ? block.value : block) }
}

/** JSON that is the same for the same value, in whichever order the keys of its objects stand. */
function toOrdered(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/** Some agents write the texts that follow each other in an answer as one. */
export function joined(things: readonly Thing[]): readonly Thing[] {
  const found: Thing[] = []
  for (const thing of things) {
    const last = found.at(-1)
    if (thing.answer === undefined || last?.answer === undefined) found.push(thing)
    else {
      const answer = `${last.answer}${thing.answer}`
      const more = [...(last.more ?? []), thing.origin]
      found[found.length - 1] = { ...last, key: `assistant text ${answer}`, answer, more }
    }
  }
  return found
}

export function wordsOf({ texts }: Result): string {
  return texts.join('\n\n')
}
