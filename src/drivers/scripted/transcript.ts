import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { field, isObject, object, parseJson, string, ThroughlineError, type JsonObject } from '#base'
import { readBlocks, textOf, toUsageFields, type Block, type Usage } from '#model'

/**
 * The scripted agent's own record of a conversation, in the format of Claude Code: what reads real sessions reads
 * these. Like the real one it has a message when it is whole, one line per block.
 */
export interface ScriptedTranscript {
  readonly sessionId: string
  /** Prompts that are in it, oldest first. */
  prompts(): readonly string[]
  /** An id that is its own, and the same in every run. */
  nextId(): string
  addPrompt(id: string, blocks: readonly Block[]): void
  addReply(reply: ScriptedReply): void
  addResult(result: ScriptedResult): void
  addInterruption(): void
}

interface ScriptedReply {
  readonly messageId: string
  readonly model: string
  readonly parts: readonly { readonly id: string; readonly block: JsonObject }[]
  readonly stopReason: string | null
  readonly usage: Usage
}

interface ScriptedResult {
  readonly id: string
  readonly toolUseId: string
  readonly callId: string
  readonly text: string
  readonly isError: boolean
}

export interface ScriptedTranscriptOptions {
  readonly folder: string
  readonly sessionId: string
  readonly workdir: string
  readonly now: () => number
}

/** A new record, or the one that is there already, to be gone on with. */
export function openScriptedTranscript(options: ScriptedTranscriptOptions): ScriptedTranscript {
  const { folder, sessionId, workdir, now } = options
  const found = findTranscript(folder, sessionId)
  const lines = found === undefined ? [] : readLines(found)
  const path =
    found ?? join(folder, workdir.replaceAll(/[^a-zA-Z0-9]/gu, '-').slice(0, 200), `${sessionId}.jsonl`)
  const prompts = lines.flatMap(promptOf)
  let parent = lines.map((line) => string(line, 'uuid')).findLast((id) => id !== undefined) ?? null
  let minted = lines.length
  const written = new Set(lines.map((line) => string(line, 'uuid')))

  function add(line: JsonObject, id: string, hangsFrom = parent): void {
    const envelope = {
      parentUuid: hangsFrom,
      isSidechain: false,
      ...line,
      uuid: id,
      timestamp: new Date(now()).toISOString(),
      userType: 'external',
      entrypoint: 'throughline',
      cwd: workdir,
      sessionId,
      version: 'scripted',
      gitBranch: 'HEAD',
    }
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
    appendFileSync(path, `${JSON.stringify(envelope)}\n`, { mode: 0o600 })
    parent = id
  }

  function nextId(): string {
    minted += 1
    const id = idOf(minted)
    // What was written last need not have been minted last: a run may have died in between.
    return written.has(id) ? nextId() : id
  }

  function idOf(number: number): string {
    const hex = createHash('sha256')
      .update(`${sessionId} ${String(number)}`)
      .digest('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }

  return {
    sessionId,
    prompts: () => prompts,
    nextId,
    addPrompt(id, blocks) {
      prompts.push(textOf(blocks))
      const message = { role: 'user', content: blocks.map(toContentBlock) }
      add({ type: 'user', message, promptId: id, promptSource: 'sdk' }, id)
    },
    addReply({ messageId, model, parts, stopReason, usage }) {
      for (const [apiBlockIndex, { id, block }] of parts.entries()) {
        const message = {
          id: messageId,
          type: 'message',
          role: 'assistant',
          model,
          content: [block],
          stop_reason: stopReason,
          stop_sequence: null,
          usage: toUsageFields(usage),
        }
        add({ type: 'assistant', message, apiBlockIndex, requestId: `req_${messageId}` }, id)
      }
    },
    addResult({ id, toolUseId, callId, text, isError }) {
      const content = [{ type: 'tool_result', tool_use_id: toolUseId, content: text, is_error: isError }]
      add({ type: 'user', message: { role: 'user', content }, sourceToolAssistantUUID: callId }, id, callId)
    },
    addInterruption() {
      const content = [{ type: 'text', text: '[Request interrupted by user]' }]
      add({ type: 'user', message: { role: 'user', content } }, nextId())
    },
  }
}

/** Copies a record under a new id, to the entry `at` where that is given. The original stays as it is. */
export function forkScriptedTranscript(options: {
  readonly folder: string
  readonly from: string
  readonly to: string
  readonly at?: string | undefined
}): void {
  const path = getTranscript(options.folder, options.from)
  const lines = readLines(path)
  const end =
    options.at === undefined
      ? lines.length
      : lines.findIndex((line) => string(line, 'uuid') === options.at) + 1
  if (end === 0)
    throw new ThroughlineError(
      'entry-not-found',
      `session ${options.from} has no entry ${options.at ?? ''}`,
      {
        hint: 'Fork from an entry that is in the transcript.',
      },
    )
  const copies = lines.slice(0, end).map((line) => `${JSON.stringify({ ...line, sessionId: options.to })}\n`)
  appendFileSync(join(path, '..', `${options.to}.jsonl`), copies.join(''), { mode: 0o600 })
}

/** Where the record of a session is; throws when there is none. */
export function getTranscript(folder: string, sessionId: string): string {
  const path = findTranscript(folder, sessionId)
  if (path !== undefined) return path
  throw new ThroughlineError('session-not-found', `the scripted agent has no session ${sessionId}`, {
    hint: 'Start a new session.',
  })
}

function findTranscript(folder: string, sessionId: string): string | undefined {
  if (!/^[\w-]+$/u.test(sessionId) || !existsSync(folder)) return undefined
  return readdirSync(folder)
    .map((project) => join(folder, project, `${sessionId}.jsonl`))
    .find((path) => existsSync(path))
}

function readLines(path: string): readonly JsonObject[] {
  return readFileSync(path, 'utf8').split('\n').map(parseJson).filter(isObject)
}

function promptOf(line: JsonObject): readonly string[] {
  if (string(line, 'promptId') === undefined) return []
  return [textOf(readBlocks(field(object(line, 'message'), 'content')))]
}

function toContentBlock(block: Block): JsonObject {
  if (block.kind === 'text') return { type: 'text', text: block.text }
  if (block.kind === 'image' && block.source.kind === 'base64')
    return {
      type: 'image',
      source: { type: 'base64', media_type: block.source.mediaType, data: block.source.data },
    }
  return { type: 'text', text: `[${block.kind}]` }
}
