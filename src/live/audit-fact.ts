import { field, isObject, list, number, object, string } from '#base'
import type { JsonObject } from '#base'
import {
  readSigner,
  type Attention,
  type AuditedAsk,
  type AuditedBy,
  type AuditedEnd,
  type AuditedInput,
  type AuditFact,
} from '#model'
import { hashOf, toCanonicalJson } from './canonical-json.ts'
import type { JournalFact } from './journal-fact.ts'

/** Of a longer input only so much is kept. */
const KEPT_INPUT = 4_096
const KEPT_WORDS = 2_000

/** An input as the log keeps it. Never throws: what cannot be written is named by the hash of nothing. */
export function toAuditedInput(input: unknown): AuditedInput {
  const text = canonical(input)
  const hash = hashOf(text === undefined ? undefined : input)
  if (text === undefined) return { hash, head: '', bytes: 0 }
  const bytes = Buffer.byteLength(text)
  if (bytes <= KEPT_INPUT) return { hash, input }
  return { hash, head: text.slice(0, KEPT_INPUT), bytes }
}

function canonical(input: unknown): string | undefined {
  try {
    return toCanonicalJson(input)
  } catch {
    return undefined
  }
}

/** What is kept of an attention for as long as it is open: enough to say what was decided. */
export interface OpenAsk {
  readonly asked: AuditedAsk
  /** What would run. */
  readonly input?: unknown
  readonly rules: readonly { readonly id: string; readonly scope: string; readonly words: string }[]
}

export function toOpenAsk({ ask, hash }: Attention): OpenAsk {
  const { toolUseId } = ask
  if (ask.kind === 'question') return { asked: { ask: 'question', toolUseId, shown: hash }, rules: [] }
  const { tool, input } = ask
  return {
    asked: { ask: 'permission', tool, toolUseId, inputHash: toAuditedInput(input).hash, shown: hash },
    input,
    rules: ask.rules.map(({ id, scope, words }) => ({ id, scope, words })),
  }
}

/** What a line of the journal says that belongs into the audit log too, if anything. */
export function toAuditFact(fact: JournalFact, opened: OpenAsk | undefined): AuditFact | undefined {
  switch (fact.kind) {
    case 'session.started': {
      const { agent, workdir, mode, model, trusted, folderHash, resumed, run, pid } = fact
      return {
        kind: 'session.started',
        agent,
        workdir,
        mode,
        model,
        trusted: trusted ?? false,
        folderHash,
        resumed,
        run,
        pid,
      }
    }
    case 'attention.opened':
      return {
        kind: 'attention.opened',
        id: fact.attention.id,
        asked: opened?.asked ?? toOpenAsk(fact.attention).asked,
      }
    case 'attention.settled': {
      const settled = toEnd(fact, opened)
      return settled && { kind: 'attention.settled', id: fact.id, asked: opened?.asked, settled }
    }
    case 'mode.changed':
      return { kind: 'mode.changed', mode: fact.mode, by: fact.by }
    case 'model.changed':
      return { kind: 'model.changed', model: fact.model, by: fact.by }
    case 'session.ended':
      return { kind: 'session.ended', reason: fact.reason, message: fact.message?.slice(0, KEPT_WORDS) }
    case 'prompt.admitted':
    case 'prompt.sent':
    case 'prompt.delivered':
    case 'session.renamed':
    case 'turn.started':
    case 'turn.ended':
      return undefined
  }
}

function toEnd(
  { state }: Extract<JournalFact, { readonly kind: 'attention.settled' }>,
  opened: OpenAsk | undefined,
): AuditedEnd | undefined {
  if (state.state === 'open') return undefined
  if (state.state === 'lapsed') return { end: 'lapsed', reason: state.reason }
  const { resolution, by } = state
  switch (resolution.kind) {
    case 'allow': {
      const rules = resolution.rules.map(
        (id) => opened?.rules.find((rule) => rule.id === id) ?? { id, scope: '', words: '' },
      )
      const edited = resolution.input === undefined ? undefined : toAuditedInput(resolution.input)
      return { end: 'allow', by, rules, edited }
    }
    case 'deny':
      return { end: 'deny', by, words: resolution.words?.slice(0, KEPT_WORDS) }
    case 'answer':
      return { end: 'answer', by, answersHash: hashOf(resolution.answers) }
  }
}

/** Reads what a line of the log says. What is not known is kept whole. */
export function readAuditFact(value: JsonObject): AuditFact {
  return readKnown(value) ?? { kind: 'unknown', value }
}

function readKnown(value: JsonObject): AuditFact | undefined {
  const id = string(value, 'id')
  const toolUseId = string(value, 'toolUseId')
  switch (string(value, 'kind')) {
    case 'session.started':
      return readStarted(value)
    case 'tool.called': {
      const tool = string(value, 'tool')
      const input = readInput(object(value, 'input'))
      if (toolUseId === undefined || tool === undefined || !input) return undefined
      const parentToolUseId = string(value, 'parentToolUseId')
      return { kind: 'tool.called', toolUseId, tool, input, parentToolUseId }
    }
    case 'tool.returned':
      return toolUseId === undefined
        ? undefined
        : { kind: 'tool.returned', toolUseId, isError: field(value, 'isError') === true }
    case 'attention.opened': {
      const asked = readAsked(object(value, 'asked'))
      return id === undefined || !asked ? undefined : { kind: 'attention.opened', id, asked }
    }
    case 'attention.settled': {
      const settled = readEnd(object(value, 'settled'))
      const asked = readAsked(object(value, 'asked'))
      return id === undefined || !settled ? undefined : { kind: 'attention.settled', id, asked, settled }
    }
    case 'attention.voided':
      return id === undefined ? undefined : { kind: 'attention.voided', id }
    case 'mode.changed':
      return { kind: 'mode.changed', mode: string(value, 'mode') ?? '', ...readBy(value) }
    case 'model.changed':
      return { kind: 'model.changed', model: string(value, 'model') ?? '', ...readBy(value) }
    case 'session.ended':
      return {
        kind: 'session.ended',
        reason: string(value, 'reason') ?? '',
        message: string(value, 'message'),
      }
    case 'tail.recovered':
      return {
        kind: 'tail.recovered',
        offset: number(value, 'offset') ?? 0,
        bytes: number(value, 'bytes') ?? 0,
      }
    case 'lines.lost':
      return { kind: 'lines.lost', count: number(value, 'count') ?? 0 }
    default:
      return undefined
  }
}

function readStarted(value: JsonObject): AuditFact {
  return {
    kind: 'session.started',
    agent: string(value, 'agent') ?? '',
    workdir: string(value, 'workdir') ?? '',
    mode: string(value, 'mode') ?? '',
    model: string(value, 'model'),
    trusted: field(value, 'trusted') === true,
    folderHash: string(value, 'folderHash'),
    resumed: string(value, 'resumed'),
    run: string(value, 'run') ?? '',
    pid: number(value, 'pid') ?? 0,
  }
}

function readInput(value: JsonObject | undefined): AuditedInput | undefined {
  const hash = string(value, 'hash')
  if (value === undefined || hash === undefined) return undefined
  if ('input' in value) return { hash, input: value['input'] }
  return { hash, head: string(value, 'head'), bytes: number(value, 'bytes') }
}

function readAsked(value: JsonObject | undefined): AuditedAsk | undefined {
  const ask = string(value, 'ask')
  const shown = string(value, 'shown')
  if (shown === undefined || (ask !== 'permission' && ask !== 'question')) return undefined
  return {
    ask,
    tool: string(value, 'tool'),
    toolUseId: string(value, 'toolUseId'),
    inputHash: string(value, 'inputHash'),
    input: readInput(object(value, 'input')),
    shown,
  }
}

function readEnd(value: JsonObject | undefined): AuditedEnd | undefined {
  const by = readBy(value)
  switch (string(value, 'end')) {
    case 'allow': {
      const rules = list(value, 'rules').flatMap((rule) =>
        isObject(rule)
          ? [
              {
                id: string(rule, 'id') ?? '',
                scope: string(rule, 'scope') ?? '',
                words: string(rule, 'words') ?? '',
              },
            ]
          : [],
      )
      return { end: 'allow', ...by, rules, edited: readInput(object(value, 'edited')) }
    }
    case 'deny':
      return { end: 'deny', ...by, words: string(value, 'words') }
    case 'answer':
      return { end: 'answer', ...by, answersHash: string(value, 'answersHash') ?? '' }
    case 'lapsed':
      return { end: 'lapsed', reason: string(value, 'reason') ?? '' }
    default:
      return undefined
  }
}

/** Devices sign with their id behind the name, so that no name passes for another one. */
function readBy(value: JsonObject | undefined): AuditedBy {
  const by = string(value, 'by') ?? ''
  return { by, device: readSigner(by) }
}
