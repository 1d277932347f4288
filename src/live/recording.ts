import { dirname, join } from 'node:path'
import { mkdir, readdir, readFile, utimes } from 'node:fs/promises'
import { string, type JsonObject } from '#base'
import { openJournal, readJournal, replaceFile, type Journal } from '#journal'
import { toContent, toUsageFields, type MessageFact } from '#model'
import { carry } from './carried.ts'
import type { BilledMessage } from './turn-spending.ts'

/** A transcript that is written for an agent that writes none that can be read, in the format of Claude Code. */
export interface Recording {
  /** Writes a message down. Resolves when it is on disk. */
  add(message: MessageFact & { readonly id: string }): Promise<void>
  addInterruption(id: string): Promise<void>
  /** Writes down what a message took that was said before, where that is known only now. */
  addUsage(id: string, billed: BilledMessage): Promise<void>
  /** Notes under which id the agent itself knows the session: what it writes of it is not another one. */
  claim(agentId: string): Promise<void>
  close(): Promise<void>
}

export interface RecordingOptions {
  /** Where recordings of this agent are. */
  readonly folder: string
  readonly agent: string
  readonly sessionId: string
  readonly workdir: string
  readonly now: () => number
  /** A message did not fit into a line: so many bytes of it are not recorded. */
  readonly onShortened?: ((bytes: number) => void) | undefined
}

const CONTENT_BYTES = 24 * 1024 * 1024

/** A new recording, or the one that is there already, to be gone on with. */
export async function openRecording(options: RecordingOptions): Promise<Recording> {
  const { folder, agent, sessionId, workdir, now } = options
  const path = (await findRecording(folder, sessionId)) ?? join(folder, slugOf(workdir), `${sessionId}.jsonl`)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const journal = await openJournal(path)
  let parent = await lastId(path)
  let claimed: string | undefined

  /** Until when it was run here: what the agent writes later was said elsewhere. */
  async function touch(): Promise<void> {
    const at = new Date(now())
    if (claimed !== undefined) await utimes(claimed, at, at)
  }

  async function write(id: string, line: JsonObject, to: Journal = journal): Promise<void> {
    const parentUuid = parent
    parent = id
    await to.append({
      parentUuid,
      isSidechain: false,
      ...line,
      uuid: id,
      timestamp: new Date(now()).toISOString(),
      userType: 'external',
      entrypoint: 'throughline',
      cwd: workdir,
      sessionId,
      version: 'throughline',
    })
    await touch()
  }

  return {
    async add(message) {
      const { id, role, messageId, model, usage, blocks } = message
      // A line may have 32 MB, and what stands around the content has its share.
      const { value: content, left } = carry(
        blocks.map(toContent),
        CONTENT_BYTES,
        (bytes) => `[${bytes} bytes are not recorded: the message is too long for a line]`,
      )
      if (left > 0) options.onShortened?.(left)
      if (role !== 'agent') {
        const isPrompt = role === 'person' ? { promptId: id, promptSource: 'sdk' } : {}
        await write(id, { type: 'user', message: { role: 'user', content }, ...isPrompt })
        return
      }
      await write(id, {
        type: 'assistant',
        message: {
          id: messageId ?? id,
          type: 'message',
          role: 'assistant',
          model: model ?? agent,
          content,
          stop_reason: null,
          stop_sequence: null,
          ...(usage === undefined ? {} : { usage: toUsageFields(usage) }),
        },
      })
    },
    async addUsage(id, { messageId, usage, model }) {
      await write(id, {
        type: 'assistant',
        // Ids of messages may come again after the agent was started anew: each is billed by itself.
        requestId: id,
        message: {
          id: messageId,
          type: 'message',
          role: 'assistant',
          model: model ?? agent,
          content: [],
          stop_reason: 'end_turn',
          stop_sequence: null,
          usage: toUsageFields(usage),
        },
      })
    },
    async addInterruption(id) {
      const content = [{ type: 'text', text: '[Request interrupted by user]' }]
      await write(id, { type: 'user', message: { role: 'user', content } })
    },
    async claim(agentId) {
      claimed = await writeClaim(folder, agentId, { sessionId })
    },
    async close() {
      await journal.close()
      await touch()
    },
  }
}

/**
 * Notes under which id of ours a session is known that its agent names otherwise; under none, it is for a moment's use.
 * Gives the file that says so. `own`: what is read of it is what the agent writes.
 */
export async function writeClaim(
  folder: string,
  agentId: string,
  { sessionId, transcript }: { readonly sessionId: string | undefined; readonly transcript?: 'own' },
): Promise<string | undefined> {
  if (agentId === sessionId || !/^[\w-]{1,128}$/u.test(agentId)) return undefined
  const names = join(dirname(folder), 'names')
  await mkdir(names, { recursive: true, mode: 0o700 })
  const path = join(names, agentId)
  const said = [sessionId ?? '', ...(transcript === undefined ? [] : [transcript])]
  await replaceFile(path, said.join('\n'))
  return path
}

/** Under which id an agent knows a session of ours, when it took one of its own. */
export async function findClaim(folder: string, sessionId: string): Promise<string | undefined> {
  const names = join(dirname(folder), 'names')
  for (const name of await namesIn(names)) {
    const said = await readFile(join(names, name), 'utf8').catch(() => '')
    if (said.split('\n')[0] === sessionId) return name
  }
  return undefined
}

async function findRecording(folder: string, sessionId: string): Promise<string | undefined> {
  for (const project of await namesIn(folder)) {
    const names = await namesIn(join(folder, project))
    if (names.includes(`${sessionId}.jsonl`)) return join(folder, project, `${sessionId}.jsonl`)
  }
  return undefined
}

async function lastId(path: string): Promise<string | null> {
  let last: string | null = null
  for await (const item of readJournal(path)) {
    if (item.kind === 'line') last = string(item.value, 'uuid') ?? last
  }
  return last
}

/** As Claude Code names the folder of a project. */
function slugOf(workdir: string): string {
  return workdir.replaceAll(/[^a-zA-Z0-9]/gu, '-').slice(0, 200)
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch {
    return []
  }
}
