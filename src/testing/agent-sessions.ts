import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { list, object, string } from '#base'
import type { Entry } from '#model'
import {
  createClaudeSource,
  createCodexSource,
  createGeminiSource,
  createOpencodeSource,
  formatOf,
  openTranscript,
  readConversation,
  type Source,
} from '#sources'

/** Agents whose own folders are read here. */
export type KnownAgent = 'claude' | 'codex' | 'gemini' | 'opencode'

/**
 * What the model sees of every session that an agent has under its root, by session. What has to be transcribed first
 * is, to `scratch`.
 */
export async function readAgentSessions(
  agent: KnownAgent,
  root: string,
  scratch: string,
): Promise<ReadonlyMap<string, readonly Entry[]>> {
  const found = new Map<string, readonly Entry[]>()
  for (const { id, path } of (await toSource(agent, root, scratch).find()).sessions) {
    const file = openTranscript(path)
    try {
      found.set(id, (await readConversation(file, formatOf(path))).entries)
    } finally {
      file.close()
    }
  }
  return found
}

function toSource(agent: KnownAgent, root: string, scratch: string): Source {
  switch (agent) {
    case 'claude':
      return createClaudeSource(root)
    case 'codex':
      return createCodexSource(root)
    case 'gemini':
      return createGeminiSource(root, scratch)
    case 'opencode':
      return createOpencodeSource(root, scratch)
  }
}

/** Puts an export of opencode into the tree of files that its data folder had before there was a database. */
export function plantOpencode(dataDir: string, exported: unknown): void {
  const info = object(exported, 'info')
  const session = string(info, 'id') ?? ''
  const put = (path: string, value: unknown): void => {
    const full = join(dataDir, 'storage', path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, JSON.stringify(value))
  }
  put(`session/${string(info, 'projectID') ?? 'global'}/${session}.json`, info)
  for (const message of list(exported, 'messages')) {
    const id = string(object(message, 'info'), 'id') ?? ''
    put(`message/${session}/${id}.json`, object(message, 'info'))
    for (const part of list(message, 'parts')) put(`part/${id}/${string(part, 'id') ?? ''}.json`, part)
  }
}
