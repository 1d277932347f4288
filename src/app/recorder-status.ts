import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { field, list, number, parseJson, string } from '#base'
import { findAgentProcesses, findProcess, isRunning, type ProcessId } from '#drivers'
import { replaceFile } from '#journal'
import type { ConversationView } from '#recorder'
import { createClaudeSource } from '#sources'

/** How a proxy that records stands, as it says itself. */
export interface RecorderState {
  readonly process: ProcessId
  /** `run`: for one command. `serve`: for whoever uses its address. */
  readonly mode: 'run' | 'serve'
  /** The program that is recorded, without its arguments. */
  readonly program: string | undefined
  readonly port: number
  readonly startedAt: string
  /** Requests that passed, answers of models among them, and what of it could not be understood. */
  readonly requests: number
  readonly answers: number
  readonly unread: number
  /** Turns that could not be written. */
  readonly missing: number
  readonly lastAnswerAt: string | undefined
  readonly conversations: readonly RecorderConversation[]
  /** The last thing that went wrong. */
  readonly trouble: { readonly at: string; readonly message: string } | undefined
}

/** A conversation that a proxy records. */
export type RecorderConversation = Pick<
  ConversationView,
  'sessionId' | 'folder' | 'agent' | 'clientSessionId' | 'turns' | 'lost' | 'lastTurnAt'
>

/** Tells others how a proxy stands. */
export interface RecorderStatus {
  /** Something changed. It is written soon, and not for every change. */
  touch(): void
  /** Takes the word back. */
  close(): Promise<void>
}

/** How long a change may wait to be told. */
const SOON_MS = 300

/** Keeps a file in `<home>/run/recorders` up to date, for its owner alone. A failure to do so stops nothing. */
export async function openRecorderStatus(
  home: string,
  read: () => Omit<RecorderState, 'process'>,
): Promise<RecorderStatus> {
  const process = findProcess(globalThis.process.pid) ?? { pid: globalThis.process.pid, start: '' }
  const folder = recordersFolder(home)
  const path = join(folder, `${String(process.pid)}.json`)
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let isClosed = false

  async function write(): Promise<void> {
    timer = undefined
    const state: RecorderState = { process, ...read() }
    await replaceFile(path, `${JSON.stringify(state)}\n`).catch(() => {})
  }

  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {})
  await write()
  return {
    touch() {
      if (isClosed) return
      timer ??= setTimeout(() => {
        writing = write()
      }, SOON_MS)
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await writing
      await rm(path, { force: true }).catch(() => {})
    },
  }
}

/** The proxies that record for this home now. What dead ones left is taken away. */
export async function findRecorders(home: string): Promise<readonly RecorderState[]> {
  const folder = recordersFolder(home)
  const names = await readdir(folder).catch(() => [])
  const states: RecorderState[] = []
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const state = toState(parseJson(await readFile(join(folder, name), 'utf8').catch(() => '')))
    if (state === undefined) continue
    if (isRunning(state.process)) states.push(state)
    else await rm(join(folder, name), { force: true }).catch(() => {})
  }
  return states
}

/**
 * What is wrong with proxies that are there to record, for a person: turns that could not be written, answers of which
 * nothing is, and agents that work below one and never ask it.
 */
export function findAlarms(recorders: readonly RecorderState[], claudeDir: string): readonly RecorderAlarm[] {
  if (recorders.length === 0) return []
  const holders = createClaudeSource(claudeDir).registry?.read().holders ?? []
  const working = holders.filter(({ status }) => status === 'busy' || status === 'waiting')
  return recorders.flatMap((recorder) => {
    const { pid } = recorder.process
    const message = findMissing(recorder)
    const below = working.length === 0 ? [] : findAgentProcesses('', recorder.process)
    const known = new Set(recorder.conversations.map(({ clientSessionId }) => clientSessionId))
    const passed = working
      .filter((holder) => below.some((one) => one.pid === holder.pid) && !known.has(holder.sessionId))
      .map(({ sessionId }) => ({
        pid,
        message: `Not recording: session ${sessionId} works, and does not ask through the proxy.`,
      }))
    return [...(message === undefined ? [] : [{ pid, message }]), ...passed]
  })
}

/** Something that should be recorded and is not. */
export interface RecorderAlarm {
  /** The process of the proxy. */
  readonly pid: number
  readonly message: string
}

function findMissing({
  conversations,
  unread,
  trouble,
  answers,
  missing: lost,
}: RecorderState): string | undefined {
  const missing = lost + unread
  const turns = conversations.reduce((sum, one) => sum + one.turns, 0)
  const why = trouble === undefined ? '' : ` ${trouble.message}`
  if (missing > 0)
    return `Not recording: ${String(missing)} ${missing === 1 ? 'turn is' : 'turns are'} missing.${why}`
  if (answers > 0 && turns === 0)
    return `Not recording: ${String(answers)} ${answers === 1 ? 'answer' : 'answers'} passed, and nothing is written.${why}`
  return undefined
}

function recordersFolder(home: string): string {
  return join(home, 'run', 'recorders')
}

function toState(value: unknown): RecorderState | undefined {
  const process = field(value, 'process')
  const pid = number(process, 'pid')
  const start = string(process, 'start')
  const startedAt = string(value, 'startedAt')
  if (pid === undefined || start === undefined || startedAt === undefined) return undefined
  const trouble = field(value, 'trouble')
  const [at, message] = [string(trouble, 'at'), string(trouble, 'message')]
  return {
    process: { pid, start },
    mode: string(value, 'mode') === 'serve' ? 'serve' : 'run',
    program: string(value, 'program'),
    port: number(value, 'port') ?? 0,
    startedAt,
    requests: number(value, 'requests') ?? 0,
    answers: number(value, 'answers') ?? 0,
    unread: number(value, 'unread') ?? 0,
    missing: number(value, 'missing') ?? 0,
    lastAnswerAt: string(value, 'lastAnswerAt'),
    conversations: list(value, 'conversations').map((one) => ({
      sessionId: string(one, 'sessionId') ?? '',
      folder: string(one, 'folder') ?? '',
      agent: string(one, 'agent'),
      clientSessionId: string(one, 'clientSessionId'),
      turns: number(one, 'turns') ?? 0,
      lost: number(one, 'lost') ?? 0,
      lastTurnAt: string(one, 'lastTurnAt'),
    })),
    trouble: at === undefined || message === undefined ? undefined : { at, message },
  }
}
