import { readdirSync } from 'node:fs'
import { basename, sep } from 'node:path'
import { boolean, number, parseJson, string } from '#base'
import type { SideFile, SubagentSummary } from '#model'
import { openTranscript, type TranscriptFile } from '../transcript-file.ts'
import { findSubagentFiles, findToolResults } from './layout.ts'
import { findStats } from '../folders.ts'

/** The largest side file that is read, one after another: they hold a title or a flag. */
const smallFile = Buffer.allocUnsafe(64 * 1024)

/** What lies beside a transcript. */
export interface Side {
  readonly subagents: readonly SubagentSummary[]
  readonly toolResults: readonly SideFile[]
  readonly archived: boolean
  /** The name a person gave the session in the terminal. */
  readonly customTitle: string | undefined
}

export const NO_SIDE: Side = { subagents: [], toolResults: [], archived: false, customTitle: undefined }

/** Looks into the folder first: most have none of the small files, and opening what is not there takes longer. */
export function readSide(sideDir: string): Side {
  let names: readonly string[]
  try {
    names = readdirSync(sideDir)
  } catch {
    return NO_SIDE
  }
  return {
    subagents: names.includes('subagents') ? readSubagents(sideDir) : [],
    toolResults: names.includes('tool-results') ? readToolResults(sideDir) : [],
    archived: names.includes('archived.json') && readArchived(sideDir),
    customTitle: names.includes('custom-title.json') ? readCustomTitle(sideDir) : undefined,
  }
}

function readCustomTitle(sideDir: string): string | undefined {
  return string(readSmallJson(`${sideDir}${sep}custom-title.json`), 'customTitle')
}

/** How many days Claude Code keeps transcripts, where a person has set it. */
export function readCleanupDays(configDir: string): number | undefined {
  return number(readSmallJson(`${configDir}${sep}settings.json`), 'cleanupPeriodDays')
}

function readArchived(sideDir: string): boolean {
  return boolean(readSmallJson(`${sideDir}${sep}archived.json`), 'archived') ?? false
}

function readSubagents(sideDir: string): readonly SubagentSummary[] {
  return findSubagentFiles(sideDir).map(summariseSubagent)
}

function readToolResults(sideDir: string): readonly SideFile[] {
  return findToolResults(sideDir).map((path) => ({ path, size: sizeOf(path) }))
}

export function summariseSubagent(path: string): SubagentSummary {
  const meta = readSmallJson(path.replace(/\.jsonl$/, '.meta.json'))
  return {
    id: basename(path, '.jsonl').replace(/^agent-/, ''),
    path,
    size: sizeOf(path),
    agentType: string(meta, 'agentType'),
    description: string(meta, 'description'),
    toolUseId: string(meta, 'toolUseId'),
    parentAgentId: string(meta, 'parentAgentId'),
  }
}

function sizeOf(path: string): number {
  return findStats(path)?.size ?? 0
}

function readSmallJson(path: string): unknown {
  const text = readSmallText(path)
  return text === undefined ? undefined : parseJson(text)
}

/** The text of a small regular file; nothing is followed and nothing is waited for. */
export function readSmallText(path: string): string | undefined {
  let file: TranscriptFile
  try {
    file = openTranscript(path)
  } catch {
    return undefined
  }
  try {
    if (file.size > smallFile.length) return undefined
    return smallFile.toString('utf8', 0, file.readNow(smallFile, file.size, 0))
  } finally {
    file.close()
  }
}
