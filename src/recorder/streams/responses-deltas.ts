import { field, isObject, list, number, string, type JsonObject } from '#base'

/** An item while it is streamed. */
export type GrowingItem = Record<string, unknown>

type Items = Map<number, GrowingItem>

/** Puts a piece of an item on it: `response.<what>.delta`, or what its `.done` says it is in the end. */
export function growItem(items: Items, type: string, event: JsonObject): void {
  const [, what, step] = /^response\.(.+)\.(delta|done|added)$/u.exec(type) ?? []
  const kind = what === undefined ? undefined : PIECES[what]
  if (kind === undefined || step === undefined) return
  const item = itemOf(items, event, kind)
  if (kind.part === undefined) return setText(item, kind.field, { step, event })
  const parts = listIn(item, kind.part.in)
  const index = number(event, kind.part.index) ?? Math.max(0, parts.length - 1)
  const given = field(event, 'part')
  if (isObject(given)) {
    parts[index] = { ...given }
    return
  }
  while (parts.length < index) parts.push({ ...kind.part.empty })
  const part = parts[index]
  const growing: GrowingItem = isObject(part) ? { ...part } : { ...kind.part.empty }
  parts[index] = growing
  if (what === 'output_text.annotation')
    growing['annotations'] = [...list(growing, 'annotations'), event['annotation']]
  else setText(growing, kind.field, { step, event })
}

interface Piece {
  /** The field that grows. */
  readonly field: string
  /** The list in the item where it stands, when it is not a field of the item itself. */
  readonly part?: { readonly in: string; readonly index: string; readonly empty: JsonObject }
  /** The kind of an item whose beginning was not heard. */
  readonly item: JsonObject
}

const MESSAGE: JsonObject = { type: 'message', role: 'assistant' }
const OUTPUT = { in: 'content', index: 'content_index', empty: { type: 'output_text', text: '' } }
const SUMMARY = { in: 'summary', index: 'summary_index', empty: { type: 'summary_text', text: '' } }

const PIECES: Readonly<Record<string, Piece>> = {
  content_part: { field: 'text', part: OUTPUT, item: MESSAGE },
  output_text: { field: 'text', part: OUTPUT, item: MESSAGE },
  'output_text.annotation': { field: 'text', part: OUTPUT, item: MESSAGE },
  refusal: { field: 'refusal', part: { ...OUTPUT, empty: { type: 'refusal', refusal: '' } }, item: MESSAGE },
  reasoning_text: {
    field: 'text',
    part: { ...OUTPUT, empty: { type: 'reasoning_text', text: '' } },
    item: { type: 'reasoning' },
  },
  reasoning_summary_part: { field: 'text', part: SUMMARY, item: { type: 'reasoning' } },
  reasoning_summary_text: { field: 'text', part: SUMMARY, item: { type: 'reasoning' } },
  function_call_arguments: { field: 'arguments', item: { type: 'function_call' } },
  mcp_call_arguments: { field: 'arguments', item: { type: 'mcp_call' } },
  custom_tool_call_input: { field: 'input', item: { type: 'custom_tool_call' } },
  code_interpreter_call_code: { field: 'code', item: { type: 'code_interpreter_call' } },
}

function itemOf(items: Items, event: JsonObject, { item }: Piece): GrowingItem {
  const id = string(event, 'item_id')
  const index =
    number(event, 'output_index') ??
    [...items].find(([, known]) => id !== undefined && known['id'] === id)?.[0] ??
    items.size
  const known = items.get(index)
  if (known) return known
  const made: GrowingItem = { ...item, ...(id === undefined ? {} : { id }) }
  items.set(index, made)
  return made
}

function listIn(item: GrowingItem, key: string): unknown[] {
  const made: unknown[] = [...list(item, key)]
  item[key] = made
  return made
}

function setText(
  target: GrowingItem,
  key: string,
  { step, event }: { readonly step: string; readonly event: JsonObject },
): void {
  const delta = string(event, 'delta')
  const last = string(event, key)
  if (step === 'done' && last !== undefined) target[key] = last
  if (step === 'delta' && delta !== undefined) target[key] = (string(target, key) ?? '') + delta
}
