import { string } from '#base'
import type {
  Answer,
  ConversationFacts,
  Conversations,
  Exchange,
  Recording,
  RepeatedLine,
  TurnFacts,
} from '#recorder'

/** A line of a recording in memory. */
export interface KeptLine {
  readonly uuid: string
  readonly parentUuid: string | null
  readonly role: 'user' | 'assistant'
  readonly content: readonly object[]
  readonly messageId?: string | undefined
  readonly extra?: TurnFacts['extra']
}

export interface KeptRecording {
  readonly facts: ConversationFacts
  readonly lines: KeptLine[]
  readonly recording: Recording
  ended: boolean
}

/** Recordings that are kept in memory, behind the interface of those on disk. `fails` says which line cannot be written. */
export function createKeptRecordings(fails: (count: number) => boolean = () => false): {
  readonly all: KeptRecording[]
  readonly open: (facts: ConversationFacts) => Promise<Recording>
  readonly readLines: (recording: Recording) => Promise<readonly RepeatedLine[]>
} {
  const all: KeptRecording[] = []
  let count = 0
  return {
    all,
    async open(facts) {
      const before = all.find(
        ({ facts: { clientSessionId, subagentOf } }) =>
          clientSessionId !== undefined &&
          clientSessionId === facts.clientSessionId &&
          subagentOf?.agentId === facts.subagentOf?.agentId,
      )
      if (before !== undefined) return before.recording
      const lines: KeptLine[] = []
      let last: string | null = null
      const write = async (
        role: 'user' | 'assistant',
        content: readonly object[],
        about: TurnFacts & { messageId?: string | undefined } = {},
      ): Promise<{ uuid: string; timestamp: string }> => {
        count += 1
        const uuid = `u${String(count)}`
        const parentUuid = about.parentUuid === undefined ? last : about.parentUuid
        last = uuid
        const isLost = fails(count)
        await new Promise((resolve) => setImmediate(resolve))
        if (isLost) throw new Error('no space left on device')
        lines.push({ uuid, parentUuid, role, content, messageId: about.messageId, extra: about.extra })
        return { uuid, timestamp: '2026-01-01T00:00:00.000Z' }
      }
      const recording: Recording = {
        sessionId: `s${String(all.length)}`,
        folder: '/nowhere',
        path: '/nowhere/full.jsonl',
        async user(content, about) {
          const blocks = toBlocks(content)
          const results = blocks.filter((block) => string(block, 'type') === 'tool_result')
          if (results.length === 0 || results.length === blocks.length)
            return await write('user', blocks, about)
          const first = write('user', results, about)
          const rest = write(
            'user',
            blocks.filter((block) => !results.includes(block)),
          )
          await first
          return await rest
        },
        assistant: ({ id, content }, about) =>
          write('assistant', toBlocks(content), { ...about, messageId: id }),
        toolResult: (results, about) => write('user', [results].flat(), about),
        end() {
          kept.ended = true
          return Promise.resolve()
        },
      }
      const kept = { facts, lines, recording, ended: false }
      all.push(kept)
      return await Promise.resolve(recording)
    },
    readLines: (recording) => {
      const lines = all.find((one) => one.recording === recording)?.lines ?? []
      return Promise.resolve(lines.map((line) => ({ ...line, parentUuid: line.parentUuid ?? undefined })))
    },
  }
}

function toBlocks(content: string | readonly object[]): readonly object[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

/** The words, calls and results on the way to a line, oldest first. */
export function chainTo(lines: readonly KeptLine[], uuid: string): readonly string[] {
  const said: string[] = []
  const byId = new Map(lines.map((line) => [line.uuid, line]))
  for (let line = byId.get(uuid); line !== undefined; line = byId.get(line.parentUuid ?? '')) {
    said.unshift(...line.content.flatMap(toWords))
  }
  return said
}

/** What a block says, as short as it can be told apart. Thinking comes and goes. */
export function toWords(block: object): readonly string[] {
  switch (string(block, 'type')) {
    case 'text':
      return [string(block, 'text') ?? '']
    case 'tool_use':
      return [`call ${string(block, 'id') ?? ''}`]
    case 'tool_result':
      return [`result ${string(block, 'tool_use_id') ?? ''}`]
    default:
      return []
  }
}

type Turn = { readonly role: 'user' | 'assistant'; readonly content: readonly object[] }

/** What a client of the model does next. */
export type Step =
  | { readonly kind: 'ask'; readonly calls: number; readonly thinks: boolean }
  | { readonly kind: 'fail' }
  | { readonly kind: 'cut'; readonly keeps: boolean }
  | { readonly kind: 'rewind'; readonly to: number }
  | { readonly kind: 'anew' }

/** A client of a model that holds its own history and repeats it with every request, as they all do. */
export function createClient(
  conversations: Conversations,
  options: { readonly name: string; readonly clientSessionId?: string; readonly first?: string },
): {
  /** Does a step as far as the request; what it gives does the rest. */
  play(step: Step): () => Promise<void>
  readonly history: () => readonly string[]
  /** Everything that was ever said to or by the model, each once. */
  readonly said: Set<string>
} {
  const { name, clientSessionId } = options
  const said = new Set<string>()
  let turns: Turn[] = []
  let open: readonly string[] = []
  let count = 0
  let answers = 0

  const note = (turn: Turn): Turn => {
    for (const words of turn.content.flatMap(toWords)) said.add(words)
    return turn
  }

  function prompt(): void {
    count += 1
    const text = count === 1 && options.first !== undefined ? options.first : `${name} asks ${String(count)}`
    const results = open.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `of ${id}` }))
    open = []
    const last = turns.at(-1)
    const content = results.length > 0 ? results : [{ type: 'text', text }]
    // Two prompts without an answer in between stand in one turn with some clients, and in two with others.
    if (last?.role === 'user' && count % 2 === 0)
      turns[turns.length - 1] = note({ role: 'user', content: [...last.content, ...content] })
    else turns.push(note({ role: 'user', content }))
  }

  function request(): Exchange {
    const repeated = turns.map(({ role, content }, at) => ({
      role,
      content: content
        .filter((block) => string(block, 'type') !== 'thinking' || count % 2 === 0)
        .map((block) =>
          at === turns.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
        ),
    }))
    return conversations.begin(
      {
        api: 'messages',
        provider: 'anthropic',
        model: 'scripted',
        system: `you are ${name}`,
        turns: repeated,
        stream: true,
      },
      clientSessionId === undefined ? {} : { clientSessionId },
    )
  }

  function answer(content: readonly object[], outcome: Answer['outcome']): Answer {
    answers += 1
    return { provider: 'anthropic', message: { id: `msg ${name} ${String(answers)}`, content }, outcome }
  }

  return {
    said,
    history: () => turns.flatMap(({ content }) => content.flatMap(toWords)),
    play(step) {
      switch (step.kind) {
        case 'rewind': {
          const cut = step.to % (turns.length + 1)
          // Who goes back to a turn has it answered, or says it differently.
          const keep = turns.slice(0, cut)
          turns = keep.at(-1)?.role === 'user' ? keep.slice(0, -1) : keep
          open = callsIn(turns.at(-1))
          break
        }
        case 'anew':
          turns = []
          open = []
          break
        case 'ask':
        case 'fail':
        case 'cut':
      }
      if (turns.at(-1)?.role !== 'user' || step.kind === 'ask') prompt()
      const exchange = request()
      if (step.kind === 'fail') return () => exchange.answered(undefined)
      const text = { type: 'text', text: `${name} says ${String(answers + 1)}` }
      if (step.kind === 'cut') {
        return async () => {
          await exchange.answered(answer([text], 'cut'))
          const turn = note({ role: 'assistant', content: [text] })
          if (step.keeps) turns.push(turn)
        }
      }
      const ids = Array.from(
        { length: step.kind === 'ask' ? step.calls : 0 },
        (_, at) => `${name}-${String(answers)}-${String(at)}`,
      )
      const thinking =
        step.kind === 'ask' && step.thinks ? [{ type: 'thinking', thinking: 'hm', signature: 'x' }] : []
      const calls = ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: { path: id } }))
      const content = [...thinking, text, ...calls]
      const heard = answer(content, 'whole')
      return async () => {
        turns.push(note({ role: 'assistant', content }))
        open = ids
        await exchange.answered(heard)
      }
    },
  }
}

function callsIn(turn: Turn | undefined): readonly string[] {
  return turn?.role === 'assistant'
    ? turn.content.flatMap((block) =>
        string(block, 'type') === 'tool_use' ? [string(block, 'id') ?? ''] : [],
      )
    : []
}

/** How often each thing stands in the recordings. */
export function tally(recordings: readonly KeptRecording[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { lines } of recordings) {
    for (const words of lines.flatMap((line) => line.content.flatMap(toWords)))
      counts.set(words, (counts.get(words) ?? 0) + 1)
  }
  return counts
}
