import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Beat, Call, Delegation, Sample, Words } from './demo-beats.ts'

/** A file to write, below the folder of the samples. */
export interface DemoFile {
  readonly path: string
  readonly text: string
}

/** What the model was given before the first word: instructions, tools, the environment. */
const FIRST_TOKENS = 14_200
const CHARACTERS_PER_TOKEN = 3.6
const VERSION = '2.1.325'

/** The files of a sample session, as Claude Code would have written them, the last line so long before `now`. */
export function toDemoFiles(sample: Sample, now: number): readonly DemoFile[] {
  const slug = sample.workdir.replaceAll(/[^a-zA-Z0-9]/g, '-')
  const folder = join('projects', slug)
  const files: DemoFile[] = []
  const length = new Teller(sample, 0).tell().elapsed
  const teller = new Teller(sample, now - sample.endedMinutesAgo * 60_000 - length)
  const { lines, delegations } = teller.tell()
  files.push({ path: join(folder, `${sample.id}.jsonl`), text: lines.join('') })
  for (const { task, toolUseId, at } of delegations) {
    const beside = join(folder, sample.id, 'subagents', `agent-${task.agentId}`)
    files.push({ path: `${beside}.jsonl`, text: new Teller(sample, at).tellTask(task).join('') })
    const { agentType, description } = task
    files.push({ path: `${beside}.meta.json`, text: JSON.stringify({ agentType, description, toolUseId }) })
  }
  return files
}

interface Delegated {
  readonly task: Delegation
  readonly toolUseId: string
  readonly at: number
}

/** Turns beats into lines: keeps the chain, the time and the model's window. */
class Teller {
  readonly #sample: Sample
  readonly #start: number
  readonly #lines: string[] = []
  readonly #delegations: Delegated[] = []
  /** Where a prompt with a name hangs. */
  readonly #marks = new Map<string, string | null>()
  #agentId: string | undefined
  #tip: string | null = null
  #elapsed = 0
  #count = 0
  #cached = 0
  #context = FIRST_TOKENS

  constructor(sample: Sample, start: number) {
    this.#sample = sample
    this.#start = start
  }

  tell(): {
    readonly lines: readonly string[]
    readonly delegations: readonly Delegated[]
    readonly elapsed: number
  } {
    const { id: sessionId, title } = this.#sample
    for (const [at, beat] of this.#sample.beats.entries()) {
      this.#beat(beat)
      // The agent names a session once it knows what it is about.
      if (at === 1) this.#push({ type: 'ai-title', aiTitle: title, sessionId })
    }
    return { lines: this.#lines, delegations: this.#delegations, elapsed: this.#elapsed }
  }

  tellTask({ agentId, prompt, beats }: Delegation): readonly string[] {
    this.#agentId = agentId
    this.#link('user', { message: { role: 'user', content: prompt } })
    for (const words of beats) this.#message(words)
    return this.#lines
  }

  #beat(beat: Beat): void {
    switch (beat.kind) {
      case 'person':
        this.#prompt(beat)
        break
      case 'agent':
        this.#message(beat)
        break
      case 'compaction':
        this.#compact(beat.summary, beat.tokensAfter)
        break
      case 'rewind':
        this.#tip = this.#marks.get(beat.before) ?? null
        break
      case 'torn':
        this.#lines.push(`${beat.text}\n`)
        break
    }
  }

  #prompt({ text, image, as, afterMinutes }: Extract<Beat, { kind: 'person' }>): void {
    this.#wait((afterMinutes ?? 0) * 60_000 + (this.#count === 0 ? 0 : 20_000 + text.length * 120))
    if (as !== undefined) this.#marks.set(as, this.#tip)
    this.#take(text.length)
    const source = { type: 'base64', media_type: 'image/png', data: image }
    const content =
      image === undefined
        ? text
        : [
            { type: 'text', text },
            { type: 'image', source },
          ]
    this.#link('user', {
      promptId: this.#uuid(),
      message: { role: 'user', content },
      permissionMode: 'acceptEdits',
      promptSource: 'typed',
    })
  }

  /** One line for each part of the message, all with its figures; then the results, each below its call. */
  #message({ thinks, says, runs = [] }: Words): void {
    const parts: object[] = []
    if (thinks !== undefined) parts.push({ type: 'thinking', thinking: thinks, signature: this.#hash(24) })
    if (says !== undefined) parts.push({ type: 'text', text: says })
    const calls = runs.map((call) => ({ call, id: `toolu_01${this.#hash(22)}` }))
    for (const { call, id } of calls) {
      parts.push({ type: 'tool_use', id, name: call.tool, input: call.input })
    }
    const message = {
      id: `msg_01${this.#hash(22)}`,
      type: 'message',
      role: 'assistant',
      model: this.#sample.model,
      stop_reason: runs.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: this.#spend(JSON.stringify(parts).length),
    }
    const requestId = `req_01${this.#hash(22)}`
    const owners = new Map<object, string>()
    for (const part of parts) {
      this.#wait(3_500 + JSON.stringify(part).length * 22)
      owners.set(part, this.#link('assistant', { message: { ...message, content: [part] }, requestId }))
    }
    for (const [at, { call, id }] of calls.entries()) {
      const owner = owners.get(parts[parts.length - calls.length + at] ?? parts) ?? ''
      this.#result(call, id, owner)
    }
  }

  #result(call: Call, toolUseId: string, owner: string): void {
    const { output, failed, detail, tokens = 0, subagent } = call
    if (subagent !== undefined) {
      this.#delegations.push({ task: subagent, toolUseId, at: this.#start + this.#elapsed })
      this.#wait(subagent.beats.length * 21_000)
    }
    this.#wait(call.tool === 'AskUserQuestion' ? 41_000 : 2_600 + output.length * 8)
    this.#take(output.length)
    this.#context += tokens
    const block = { tool_use_id: toolUseId, type: 'tool_result', content: output }
    const line = {
      message: { role: 'user', content: [failed === true ? { ...block, is_error: true } : block] },
      toolUseResult: detail,
      sourceToolAssistantUUID: owner,
    }
    this.#tip = owner
    this.#link('user', line)
  }

  #compact(summary: string, tokensAfter: number): void {
    this.#wait(31_000)
    const logicalParentUuid = this.#tip
    const metadata = {
      trigger: 'auto',
      preTokens: this.#context,
      postTokens: tokensAfter,
      durationMs: 30_400,
    }
    this.#tip = null
    this.#link('system', {
      subtype: 'compact_boundary',
      logicalParentUuid,
      content: 'Conversation compacted',
      level: 'info',
      isMeta: false,
      compactMetadata: metadata,
    })
    this.#context = tokensAfter
    this.#cached = 0
    const content = `This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n${summary}`
    this.#link('user', {
      message: { role: 'user', content },
      isVisibleInTranscriptOnly: true,
      isCompactSummary: true,
    })
  }

  /** Everything before was read from the cache, and what is new was written to it. */
  #spend(characters: number): object {
    const output = Math.ceil(characters / CHARACTERS_PER_TOKEN)
    const created = this.#context - this.#cached
    const usage = {
      input_tokens: 4 + (this.#count % 7),
      cache_creation_input_tokens: created,
      cache_read_input_tokens: this.#cached,
      output_tokens: output,
      service_tier: 'standard',
      cache_creation: { ephemeral_5m_input_tokens: created, ephemeral_1h_input_tokens: 0 },
    }
    this.#cached = this.#context
    this.#context += output
    return usage
  }

  #link(type: 'user' | 'assistant' | 'system', fields: object): string {
    const uuid = this.#uuid()
    const { id: sessionId, workdir: cwd, gitBranch } = this.#sample
    this.#push({
      parentUuid: this.#tip,
      isSidechain: this.#agentId !== undefined,
      ...(this.#agentId === undefined ? {} : { agentId: this.#agentId }),
      type,
      ...fields,
      uuid,
      timestamp: new Date(this.#start + this.#elapsed).toISOString(),
      userType: 'external',
      entrypoint: 'cli',
      cwd,
      sessionId,
      version: VERSION,
      gitBranch,
    })
    this.#tip = uuid
    return uuid
  }

  #push(line: object): void {
    this.#lines.push(`${JSON.stringify(line)}\n`)
  }

  #wait(ms: number): void {
    this.#elapsed += Math.round(ms)
  }

  #take(characters: number): void {
    this.#context += Math.ceil(characters / CHARACTERS_PER_TOKEN)
  }

  /** The same for the same sample: written again, it is the same session. */
  #hash(length: number): string {
    const name = `${this.#sample.id} ${this.#agentId ?? ''} ${this.#count++}`
    return createHash('sha256').update(name).digest('hex').slice(0, length)
  }

  #uuid(): string {
    const hex = this.#hash(32)
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join('-')
  }
}
