import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { field, isObject, list, number, parseJson, string, ThroughlineError, type JsonObject } from '#base'
import { ENTIRE_HOOKS, noteEntireHooks, readEntireHooks } from './entire-hooks.ts'
import {
  findTranscript,
  resolveSessionFile,
  sessionIdOf,
  startOf,
  writeSessionFile,
} from './entire-session.ts'
import {
  chunksOf,
  endOfLines,
  filesIn,
  linesFrom,
  promptsIn,
  summaryIn,
  tokensIn,
} from './entire-transcript.ts'
import { findRecordings, metadataFolder, namesIn } from './layout.ts'

/** What the plugin is given to work with. */
export interface EntireAgentOptions {
  /** The repository that Entire asks about. */
  readonly repo: string
  /** Throughline's own folder. */
  readonly home: string
  /** Gives what Entire says to this call. */
  readonly read: () => Buffer
  readonly now: () => number
}

/** What a call prints: JSON, the bytes of a transcript, or nothing. */
type Answer = JsonObject | Buffer | null | undefined

const NAME = 'throughline'
const VERSION = 1
/** What Entire calls the moments that it is told of. */
const EVENTS: Readonly<Record<string, number>> = {
  'session-start': 1,
  'user-prompt-submit': 2,
  stop: 3,
  'session-end': 5,
}

/**
 * Answers one call of Entire's protocol for agents of others, version 1: one subcommand per question, JSON in and
 * out, transcripts as they are. Throws for what Entire cannot be answered; the caller exits with 1 then.
 */
export async function answerEntire(
  [command = '', ...rest]: readonly string[],
  options: EntireAgentOptions,
): Promise<Answer> {
  const { home, repo, now } = options
  const flags = readFlags(rest)
  const given = (): unknown => readGiven(options.read())
  switch (command) {
    case 'info':
      return info()
    case 'detect':
      return {
        present: (await findRecordings(repo)).length > 0 || (await readEntireHooks(home)).includes(repo),
      }
    case 'get-session-id':
      return { session_id: sessionIdIn(given()) }
    case 'get-session-dir':
      return { session_dir: metadataFolder(need(flags, 'repo-path')) }
    case 'resolve-session-file':
      return { session_file: await resolveSessionFile(need(flags, 'session-dir'), need(flags, 'session-id')) }
    case 'read-session':
      return await readSession(given(), options)
    case 'write-session':
      return await writeSession(given(), options)
    case 'read-transcript':
      return await getTranscript(need(flags, 'session-ref'))
    case 'chunk-transcript': {
      const chunks = chunksOf(options.read(), atLeast(flags, 'max-size', 1))
      return { chunks: chunks.map((chunk) => chunk.toString('base64')) }
    }
    case 'reassemble-transcript':
      return Buffer.concat(
        list(given(), 'chunks').map((chunk) => Buffer.from(typeof chunk === 'string' ? chunk : '', 'base64')),
      )
    case 'format-resume-command':
      return { command: toCommand(need(flags, 'session-id')) }
    case 'parse-hook':
      return toEvent(need(flags, 'hook'), options.read())
    case 'install-hooks': {
      const change = await noteEntireHooks(home, repo, { wanted: 'on', now })
      return { hooks_installed: change === 'changed' || flags['force'] === true ? ENTIRE_HOOKS.length : 0 }
    }
    case 'uninstall-hooks':
      await noteEntireHooks(home, repo, { wanted: 'off', now })
      return undefined
    case 'are-hooks-installed':
      return { installed: (await readEntireHooks(home)).includes(repo) }
    default:
      return await analyse(command, flags, options)
  }
}

/** What Entire asks about the content of a transcript. Offsets are in bytes. */
async function analyse(command: string, flags: Flags, options: EntireAgentOptions): Promise<Answer> {
  switch (command) {
    case 'get-transcript-position':
      return { position: endOfLines(await transcriptAt(need(flags, 'path'))) }
    case 'extract-modified-files': {
      const bytes = await transcriptAt(need(flags, 'path'))
      return { files: filesIn(linesFrom(bytes, offsetIn(flags))), current_position: endOfLines(bytes) }
    }
    case 'extract-prompts': {
      const bytes = await transcriptAt(need(flags, 'session-ref'))
      return { prompts: promptsIn(linesFrom(bytes, offsetIn(flags))) }
    }
    case 'extract-summary': {
      const summary = summaryIn(linesFrom(await transcriptAt(need(flags, 'session-ref')), 0))
      return { summary, has_summary: summary !== '' }
    }
    case 'calculate-tokens':
      return { ...tokensIn(linesFrom(options.read(), offsetIn(flags))), subagent_tokens: null }
    case 'extract-all-modified-files': {
      const lines = linesFrom(options.read(), offsetIn(flags))
      return { files: filesIn([...lines, ...(await subagentLines(need(flags, 'subagents-dir')))]) }
    }
    case 'calculate-total-tokens': {
      const own = tokensIn(linesFrom(options.read(), offsetIn(flags)))
      return { ...own, subagent_tokens: tokensIn(await subagentLines(need(flags, 'subagents-dir'))) }
    }
    default:
      throw bad(
        command === '' ? 'no subcommand was given' : `there is no subcommand ${JSON.stringify(command)}`,
      )
  }
}

function info(): JsonObject {
  return {
    protocol_version: VERSION,
    name: NAME,
    type: 'Throughline',
    description: 'Throughline - recordings of agents that write no transcript',
    is_preview: false,
    protected_dirs: [],
    hook_names: ENTIRE_HOOKS,
    capabilities: {
      hooks: true,
      transcript_analyzer: true,
      transcript_preparer: false,
      token_calculator: true,
      text_generator: false,
      hook_response_writer: false,
      subagent_aware_extractor: true,
      uses_terminal: false,
    },
  }
}

async function readSession(input: unknown, { repo, now }: EntireAgentOptions): Promise<JsonObject> {
  const id = sessionIdIn(input)
  const path = string(input, 'session_ref') || (await resolveSessionFile(metadataFolder(repo), id))
  const bytes = await getTranscript(path)
  return {
    session_id: id,
    agent_name: NAME,
    repo_path: repo,
    session_ref: path,
    start_time: startOf(bytes) ?? string(input, 'timestamp') ?? new Date(now()).toISOString(),
    native_data: bytes.toString('base64'),
    modified_files: filesIn(linesFrom(bytes, 0)),
    new_files: [],
    deleted_files: [],
  }
}

async function writeSession(session: unknown, { repo }: EntireAgentOptions): Promise<undefined> {
  const id = string(session, 'session_id') ?? ''
  const at = string(session, 'repo_path') || repo
  const path = string(session, 'session_ref') || (await resolveSessionFile(metadataFolder(at), id))
  const data = field(session, 'native_data')
  if (typeof data !== 'string') throw bad('the session has no native_data to write')
  await writeSessionFile(at, path, Buffer.from(data, 'base64'))
}

/** The moment that the recorder tells of; nothing when it says nothing that Entire could use. */
function toEvent(hook: string, payload: Buffer): JsonObject | null {
  const type = EVENTS[hook]
  if (payload.toString().trim() === '') return null
  const input = readGiven(payload)
  const id = sessionIdIn(input)
  if (type === undefined || id === '') return null
  const texts = {
    session_ref: string(input, 'session_ref'),
    prompt: string(input, 'prompt') ?? string(input, 'user_prompt'),
    model: string(input, 'model'),
    timestamp: string(input, 'timestamp'),
  }
  const said = Object.entries(texts).filter(([, text]) => text !== undefined && text !== '')
  return { type, session_id: id, ...Object.fromEntries(said) }
}

/** A recording cannot be gone on with from outside of its agent; it can be looked at. */
function toCommand(id: string): string {
  if (!/^[\w.-]+$/.test(id)) throw bad(`no session can be called ${JSON.stringify(id)}`)
  return `throughline show ${id}`
}

function sessionIdIn(input: unknown): string {
  return string(input, 'session_id') || sessionIdOf(string(input, 'session_ref') ?? '')
}

async function subagentLines(folder: string): Promise<readonly unknown[]> {
  const names = (await namesIn(folder)).filter((name) => /^agent-[\w-]+\.jsonl$/.test(name))
  const files = await Promise.all(names.map(async (name) => await transcriptAt(join(folder, name))))
  return files.flatMap((bytes) => linesFrom(bytes, 0))
}

/** A transcript that is not there yet has no lines. */
async function transcriptAt(path: string): Promise<Buffer> {
  return (await findTranscript(path)) ?? Buffer.alloc(0)
}

async function getTranscript(path: string): Promise<Buffer> {
  const bytes = await findTranscript(path)
  if (bytes) return bytes
  throw new ThroughlineError('session-not-found', `there is no transcript ${path}`, {
    hint: 'throughline ls has the sessions that are there.',
  })
}

function readGiven(bytes: Buffer): unknown {
  const value = parseJson(bytes.toString('utf8'))
  if (!isObject(value)) throw bad('what was given is no JSON object')
  return value
}

type Flags = Readonly<Record<string, string | boolean | undefined>>

function readFlags(args: readonly string[]): Flags {
  const texts = [
    'repo-path',
    'session-dir',
    'session-id',
    'session-ref',
    'max-size',
    'hook',
    'path',
    'offset',
  ]
  const { values } = parseArgs({
    args: [...args],
    strict: false,
    options: {
      ...Object.fromEntries([...texts, 'subagents-dir'].map((name) => [name, { type: 'string' as const }])),
      force: { type: 'boolean' },
    },
  })
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (Array.isArray(value) ? [] : [[name, value]])),
  )
}

function need(flags: Flags, name: string): string {
  const value = flags[name]
  if (typeof value === 'string' && value !== '') return value
  throw bad(`--${name} is missing`)
}

function offsetIn(flags: Flags): number {
  return flags['offset'] === undefined ? 0 : atLeast(flags, 'offset', 0)
}

function atLeast(flags: Flags, name: string, least: number): number {
  const value = number({ value: Number(need(flags, name)) }, 'value')
  if (value !== undefined && Number.isInteger(value) && value >= least) return value
  throw bad(`--${name} is no whole number of at least ${least}`)
}

function bad(message: string): ThroughlineError {
  return new ThroughlineError('bad-usage', message, {
    hint: 'This program answers Entire; it is not meant to be run by hand.',
  })
}
