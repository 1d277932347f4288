import { join, sep } from 'node:path'
import { shorten } from '#base'
import type { SessionSummary, SubagentSummary } from '#model'
import { createGlance } from '../claude/glance.ts'
import { findSubagentFiles } from '../claude/layout.ts'
import { NO_SIDE, readSmallText, summariseSubagent } from '../claude/side-files.ts'
import { nameOfPrompt, summarise } from '../claude/summary.ts'
import { createBillReader } from '../claude/usage-scan.ts'
import { findWorkdirsOf } from '../claude/workdirs.ts'
import { lookAtAll } from '../look-at-all.ts'
import type { SessionFiles, Source, SourceFiles } from '../source.ts'
import type { Meter } from '../transcript-file.ts'
import { readBeginning, type Beginning } from './beginning.ts'
import {
  createPlaceFinder,
  findEntireFolders,
  findFolders,
  findTaskFiles,
  findTranscripts,
  isRecorderId,
  stampOfFolders,
} from './layout.ts'
import { entireFormat } from './read-line.ts'

export interface EntireOptions {
  /** The folders that are looked into right now, by their real paths: those with `.entire` in them. */
  readonly folders: () => readonly string[]
  /** Where all of them are. Default: anywhere. */
  readonly root?: string
  readonly meter?: Meter | undefined
}

/**
 * Reads recordings, and the copies that Entire keeps of transcripts: `.entire/metadata/<session>/full.jsonl` in the
 * folders where agents work. Never writes there.
 */
export function createEntireSource({ folders, root = sep, meter }: EntireOptions): Source {
  const glance = createGlance(entireFormat)

  function look(files: SessionFiles): SessionSummary {
    const beginning = readBeginning(files.path)
    const { foreign } = beginning
    const side = { ...NO_SIDE, subagents: files.sideDir === undefined ? [] : readSubagents(files.sideDir) }
    const agent = agentOf(files, beginning)
    const seen = summarise(files, { agent, side, glance, meter })
    const recorded = toRecorded(files, beginning)
    if (foreign === undefined) return withPromptFile({ ...seen, recorded }, files)
    const { id, path, size } = seen
    const writer = foreign === 'unknown' ? 'nobody here knows' : `${foreign} writes`
    const problem = `is written the way ${writer}, and is not read`
    // Where it lies is where its agent worked; where else it did, nobody has read.
    const workdirs = [join(path, '..', '..', '..', '..')]
    const nothing = { workdirsComplete: false, subagents: [], toolResults: [], archived: false }
    return withPromptFile(
      { id, agent, path, size, workdirs, ...nothing, state: 'unreadable', problem, recorded },
      files,
    )
  }

  async function find(): Promise<SourceFiles> {
    const { sessions, problems } = findTranscripts(folders())
    const hint = 'Nothing else is affected. Move it away, or put a folder or a file there.'
    return { sessions, problems: problems.map((problem) => ({ ...problem, hint })) }
  }

  return {
    agent: 'entire',
    root,
    format: entireFormat,
    // Entire writes its copy anew at the end of every turn.
    rewritesInPlace: true,
    findPlace: createPlaceFinder(root),
    at: (other) => createEntireSource({ root: other, folders: () => findEntireFolders(other), meter }),
    folders: (under) => findFolders(folders(), under),
    find,
    stamp: (now) => stampOfFolders(folders(), now),
    look,
    live: () => new Map(),
    async list() {
      const { sessions, problems } = await find()
      return { sessions: await lookAtAll(sessions, look), problems }
    },
    createBillReader,
    findWorkdirs: (path) => findWorkdirsOf(path, meter),
  }
}

/** Who was recorded, as far as the lines say so. What Entire copies without a word is Claude Code's. */
function agentOf({ id }: SessionFiles, { agent, foreign }: Beginning): string {
  if (agent !== undefined && AGENT.test(agent)) return agent.toLowerCase()
  return foreign ?? (isRecorderId(id) ? 'unknown' : 'claude')
}

/** A name that can stand in a list, in a filter and in a path. */
const AGENT = /^[\w.@ -]{1,64}$/

function toRecorded(
  { id }: SessionFiles,
  { agent, clientSessionId }: Beginning,
): NonNullable<SessionSummary['recorded']> {
  const as = agent !== undefined || isRecorderId(id) ? 'recording' : 'copy'
  return { as, ...(clientSessionId === undefined ? {} : { of: clientSessionId }) }
}

function readSubagents(sideDir: string): readonly SubagentSummary[] {
  const tasks = findTaskFiles(sideDir).map(({ path, toolUseId }) => ({
    ...summariseSubagent(path),
    toolUseId,
  }))
  return [...findSubagentFiles(sideDir).map(summariseSubagent), ...tasks]
}

/** What the first prompt was, where no line tells any more. */
function withPromptFile(summary: SessionSummary, { sideDir }: SessionFiles): SessionSummary {
  if (summary.firstPrompt !== undefined || sideDir === undefined) return summary
  const [first] = (readSmallText(join(sideDir, 'prompt.txt')) ?? '').split('\n\n---\n\n')
  if (first === undefined || first.trim() === '') return summary
  const named = summary.name === undefined ? nameOfPrompt(first) : {}
  return { ...summary, firstPrompt: shorten(first, PROMPT_LENGTH), ...named }
}

const PROMPT_LENGTH = 1000
