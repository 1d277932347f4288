import { readFileSync, statSync } from 'node:fs'
import { basename, sep } from 'node:path'
import { boolean, parseJson, string } from '#base'
import type { SubagentSummary } from '#model'
import { findSubagentFiles } from './layout.ts'

/** Largest side file that is read: they hold a title or a flag. */
const MAX_SIDE_FILE = 1024 * 1024

/** The name a person gave the session in the terminal. */
export function readCustomTitle(sideDir: string): string | undefined {
  return string(readSmallJson(`${sideDir}${sep}custom-title.json`), 'customTitle')
}

export function readArchived(sideDir: string): boolean {
  return boolean(readSmallJson(`${sideDir}${sep}archived.json`), 'archived') ?? false
}

export function readSubagents(sideDir: string): readonly SubagentSummary[] {
  return findSubagentFiles(sideDir).map(summariseSubagent)
}

export function summariseSubagent(path: string): SubagentSummary {
  const meta = readSmallJson(path.replace(/\.jsonl$/, '.meta.json'))
  const agentType = string(meta, 'agentType')
  const description = string(meta, 'description')
  const toolUseId = string(meta, 'toolUseId')
  const parentAgentId = string(meta, 'parentAgentId')
  return {
    id: basename(path, '.jsonl').replace(/^agent-/, ''),
    path,
    size: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    ...(agentType === undefined ? {} : { agentType }),
    ...(description === undefined ? {} : { description }),
    ...(toolUseId === undefined ? {} : { toolUseId }),
    ...(parentAgentId === undefined ? {} : { parentAgentId }),
  }
}

function readSmallJson(path: string): unknown {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined || !stats.isFile() || stats.size > MAX_SIDE_FILE) return undefined
    return parseJson(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
