import { isObject, parseJson, string } from '#base'
import type {
  Ask,
  Attention,
  Block,
  DeltaFact,
  LivePrompt,
  MessageFact,
  SessionState,
  SessionView,
  TurnSoFar,
} from '#model'
import type { BoardCard } from '#wire'

/** A live session as others may see it, in JSON. */
export interface ShownSession {
  readonly card: Buffer
  /** Not there when it cannot be masked: then nothing of it leaves. */
  readonly view?: Buffer | undefined
}

/** Without the secrets in it. Throws when that cannot be said. */
export type Mask = (text: string) => string

/** What is asked is shown whole or not at all. */
const LONGEST_ASK = 512 * 1024
/** What is shown of a turn; what came before is in the transcript. */
const LONGEST_TURN = 64 * 1024

/** Makes what leaves this machine of a live session. What was masked once is not looked through again. */
export function createShowing(mask: Mask): (card: BoardCard, view?: SessionView) => ShownSession {
  const known = new WeakMap<MessageFact, { readonly message: unknown; readonly size: number }>()

  function showMessage(message: MessageFact): { readonly message: unknown; readonly size: number } {
    const before = known.get(message)
    if (before !== undefined) return before
    const { blocks, ...rest } = message
    const masked = { ...rest, blocks: maskJson(blocks.map(showBlock), mask) }
    const made = { message: masked, size: JSON.stringify(masked).length }
    known.set(message, made)
    return made
  }

  function showTurn({ messages, streaming, dropped, ...rest }: TurnSoFar): object {
    const shown: unknown[] = []
    let left = LONGEST_TURN
    for (const each of messages.toReversed()) {
      const { message, size } = showMessage(each)
      left -= size
      if (left < 0) break
      shown.unshift(message)
    }
    return {
      ...rest,
      ...(rest.outcome === undefined ? {} : { outcome: maskJson(rest.outcome, mask) }),
      messages: shown,
      dropped: dropped + messages.length - shown.length,
      streaming: streaming.map((delta) => ({ ...delta, text: showDelta(delta, mask) })),
    }
  }

  function showView(view: SessionView): Buffer {
    const { attentions, prompts, turn, state, tools, commands, workdir, ...rest } = view
    return toBytes({
      ...rest,
      pid: 0,
      workdir: mask(workdir),
      state: showState(state, mask),
      tools,
      commands,
      prompts: prompts.map((prompt) => showPrompt(prompt, mask)),
      attentions: attentions.map((attention) => showAttention(attention, mask)),
      ...(turn === undefined ? {} : { turn: showTurn(turn) }),
    })
  }

  return (card, view) => {
    const alias = view?.agentSessionId
    const shown = toBytes({
      ...showCard(card, mask),
      ...(alias === undefined ? {} : { agentSessionId: alias }),
    })
    try {
      return { card: shown, ...(view === undefined ? {} : { view: showView(view) }) }
    } catch {
      return { card: shown }
    }
  }
}

function showCard(card: BoardCard, mask: Mask): object {
  const { attentions, state, trouble, workdir, ...rest } = card
  return {
    ...rest,
    workdir: orNothing(() => mask(workdir)) ?? '',
    state: orNothing(() => showState(state, mask)) ?? { state: state.state, reason: 'ended' },
    attentions: attentions.map((attention) => showAttention(attention, mask)),
    ...(trouble === undefined ? {} : { trouble: orNothing(() => mask(trouble)) ?? 'See it on its machine.' }),
  }
}

function showState(state: SessionState, mask: Mask): object {
  if (state.state !== 'ended') return state
  const { message, hint, ...rest } = state
  return {
    ...rest,
    ...(message === undefined ? {} : { message: mask(message) }),
    ...(hint === undefined ? {} : { hint: mask(hint) }),
  }
}

/** Whether somebody elsewhere sees everything that is asked. Only then it may be agreed to from there. */
export function isShownWhole(ask: Ask, mask: Mask): boolean {
  return orNothing(() => showAsk(ask, mask).isWhole) === true
}

/** What cannot be shown whole is marked; what cannot be masked has the name of its tool and nothing else. */
function showAttention(attention: Attention, mask: Mask): Attention {
  const shown = orNothing(() => showAsk(attention.ask, mask))
  if (shown === undefined) return { ...attention, ask: toBare(attention.ask), masked: true }
  return { ...attention, ask: shown.ask, ...(shown.isWhole ? {} : { masked: true as const }) }
}

function showAsk(ask: Ask, mask: Mask): { readonly ask: Ask; readonly isWhole: boolean } {
  const shown = withoutValues(ask)
  const before = JSON.stringify(shown)
  if (before.length > LONGEST_ASK) return { ask: toBare(ask), isWhole: false }
  // Names of calls are ours and the agent's, and no words of anybody.
  const { toolUseId, ...rest } = shown
  const masked = maskJson(rest, mask)
  const isWhole = JSON.stringify(masked) === JSON.stringify(rest)
  return { ask: isWhole ? shown : { ...masked, ...(toolUseId === undefined ? {} : { toolUseId }) }, isWhole }
}

/** What an agent wants back with a rule is for the agent alone. */
function withoutValues(ask: Ask): Ask {
  if (ask.kind === 'question') return ask
  return { ...ask, rules: ask.rules.map((rule) => ({ ...rule, value: null })) }
}

function toBare(ask: Ask): Ask {
  if (ask.kind === 'question') return { kind: 'question', workdir: '', questions: [] }
  return { kind: 'permission', tool: ask.tool, input: {}, workdir: '', rules: [], canEdit: false }
}

function showPrompt({ blocks, ...rest }: LivePrompt, mask: Mask): object {
  return { ...rest, blocks: maskJson(blocks.map(showBlock), mask) }
}

/** A secret that is only half there is not known as one: the last word is held back until another follows it. */
function showDelta({ text }: DeltaFact, mask: Mask): string {
  return mask(text.slice(0, text.search(/\S*$/u)))
}

/** Pictures and what is sealed stay where they are: nobody can look through them. */
function showBlock(block: Block): Block {
  switch (block.kind) {
    case 'image':
    case 'document':
      return block.source.kind === 'text' || block.source.kind === 'url'
        ? block
        : { kind: 'text', text: `[${block.kind}]` }
    case 'redacted-thinking':
      return { kind: 'text', text: '' }
    case 'thinking':
      return { kind: 'thinking', thinking: block.thinking }
    case 'tool-result':
      return { ...block, content: block.content.map(showBlock) }
    case 'text':
    case 'tool-use':
    case 'unknown':
      return block
  }
}

/** Every text of a value, by itself and as it stands among the others: a key can be what makes a secret of it. */
function maskJson<T>(value: T, mask: Mask): T {
  const text = JSON.stringify(maskTexts(value, mask))
  const masked = mask(text)
  if (masked !== text && parseJson(masked) === undefined) throw new Error('what was masked cannot be read')
  // Of the same shape: only texts in it were changed.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return parseJson(masked) as T
}

function maskTexts(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map((item: unknown) => maskTexts(item, mask))
  if (!isObject(value)) return value
  const isNamed = string(value, 'kind') === 'tool-use' || string(value, 'kind') === 'tool-result'
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) => [
      mask(key),
      isNamed && (key === 'id' || key === 'toolUseId') ? held : maskTexts(held, mask),
    ]),
  )
}

function orNothing<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function toBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8')
}
