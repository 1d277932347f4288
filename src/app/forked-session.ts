import { existsSync } from 'node:fs'
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { isObject, parseJson, string, ThroughlineError, type JsonObject } from '#base'
import { isNativeAgent, toResumeCommand, type Entry, type SessionSummary } from '#model'
import { toClaudeFolderName, toSaid } from '#restore'
import { formatOf, openTranscript, readForward } from '#sources'
import type { ForkCopy, ForkCopyRequest } from '#wire'
import { checkOwn } from './resumed-session.ts'
import { convertSession, type ConversionOptions } from './session-conversion.ts'
import { readEntries } from './session-entries.ts'

export interface ForkedSessionOptions extends Omit<ConversionOptions, 'to' | 'kind' | 'edition'> {
  readonly mintId: () => string
}

/**
 * Writes a session as a new one of the same agent, up to an entry. No agent is started: the copy can be read at once,
 * and its first prompt resumes it. Of Claude Code every line is copied as it is, branches and compactions too; for the
 * others the conversation is written anew in their own format.
 */
export async function forkSession(
  session: SessionSummary,
  { at, workdir }: ForkCopyRequest,
  options: ForkedSessionOptions,
): Promise<ForkCopy> {
  checkOwn(session)
  const { agent } = session
  if (!isNativeAgent(agent)) {
    throw new ThroughlineError('request-invalid', `sessions of ${agent} cannot be copied`, {
      hint: 'Fork it with its agent: `throughline resume --fork <session>`.',
    })
  }
  if (agent === 'claude') return await copyLines(session, { at, workdir }, options)
  const entries = upTo(await readEntries(session.path), at, session.id)
  const {
    sessionId,
    command,
    workdir: folder,
  } = await convertSession(
    session,
    { entries, said: toSaid(entries) },
    { ...options, to: agent, workdir, kind: 'forked', edition: options.mintId() },
  )
  return { sessionId, agent, command, workdir: folder }
}

function upTo(entries: readonly Entry[], at: string | undefined, sessionId: string): readonly Entry[] {
  if (at === undefined) return entries
  const last = entries.findIndex(({ id }) => id === at)
  if (last < 0) throw noEntry(at, sessionId)
  return entries.slice(0, last + 1)
}

async function copyLines(
  session: SessionSummary,
  { at, workdir }: ForkCopyRequest,
  { roots, lineage, mintId, now, onWritten }: ForkedSessionOptions,
): Promise<ForkCopy> {
  const folder = workdir ?? session.workdirs.at(-1)
  if (folder === undefined || !existsSync(folder)) {
    throw new ThroughlineError(
      'folder-not-found',
      `the folder ${folder ?? 'of the session'} does not exist`,
      {
        hint: 'Choose a folder to continue in: `workdir`.',
      },
    )
  }
  const here = await realpath(folder)
  const projects = join(roots.claude ?? '', 'projects')
  const own = dirname(session.path)
  // Claude Code looks for a session in the folder of its working directory.
  const isOwn = workdir === undefined && own.startsWith(projects + sep)
  const sessionId = mintId()
  const path = join(projects, isOwn ? basename(own) : toClaudeFolderName(here), `${sessionId}.jsonl`)
  const draft = `${path}.throughline-${String(process.pid)}`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    const until = await writeLines(session, { at, sessionId, draft })
    const descent = {
      kind: 'forked',
      at: new Date(now()).toISOString(),
      from: { sessionId: session.id, agent: session.agent },
      to: { sessionId, agent: session.agent },
      until,
    } as const
    lineage.expect(descent)
    await rename(draft, path)
    await lineage.add(descent)
  } catch (cause) {
    await rm(draft, { force: true })
    if (cause instanceof ThroughlineError) throw cause
    throw new ThroughlineError('output-unwritable', `${path} could not be written`, {
      hint: 'Check free space and permissions of the folder.',
      cause,
    })
  }
  await onWritten()
  return { sessionId, agent: session.agent, command: toResumeCommand('claude', sessionId), workdir: here }
}

/** Gives the latest time in what was copied. */
async function writeLines(
  session: SessionSummary,
  { at, sessionId, draft }: { readonly at?: string | undefined; sessionId: string; draft: string },
): Promise<string | undefined> {
  const source = openTranscript(session.path)
  try {
    const target = await open(draft, 'wx', 0o600)
    try {
      let until: string | undefined
      for await (const { readings } of readForward(source, formatOf(session.path))) {
        const lines: string[] = []
        let isLast = false
        for (const reading of readings) {
          if (reading.kind !== 'entry') continue
          const line = toCopiedLine(reading.entry, sessionId)
          if (line !== undefined) lines.push(`${line}\n`)
          if (reading.entry.at !== undefined && reading.entry.at > (until ?? '')) until = reading.entry.at
          isLast = reading.entry.id === at
          if (isLast) break
        }
        await target.appendFile(lines.join(''))
        if (!isLast) continue
        await target.sync()
        return until
      }
      if (at !== undefined) throw noEntry(at, session.id)
      await target.sync()
      return until
    } finally {
      await target.close()
    }
  } finally {
    source.close()
  }
}

/** The same line in another session. Each says where it came from, as forks of the Agent SDK do. */
function toCopiedLine(entry: Entry, sessionId: string): string | undefined {
  const parsed = parseJson(new TextDecoder().decode(entry.raw))
  if (!isObject(parsed)) return undefined
  const source = string(parsed, 'sessionId')
  const isMessage = string(parsed, 'uuid') !== undefined
  const line: JsonObject = {
    ...parsed,
    ...(source === undefined ? {} : { sessionId }),
    ...(source === undefined || !isMessage || parsed['forkedFrom'] !== undefined
      ? {}
      : { forkedFrom: { sessionId: source, messageUuid: entry.id } }),
  }
  return JSON.stringify(line)
}

function noEntry(at: string, sessionId: string): ThroughlineError {
  return new ThroughlineError('entry-not-found', `session ${sessionId} has no entry ${at}`, {
    hint: 'Take the id of a message as the session has it now.',
  })
}
