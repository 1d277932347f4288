import type { MemoryDocument } from '#model'
import { findSecrets } from '#redact'
import { toGateVerdict } from './write-gate.ts'

/** Why a document cannot be shared with others. */
export type SharingObstacle = 'held' | 'secret' | 'instructs' | 'type' | 'folder'

/** What of a document says whether it can be shared. */
export type SharedContent = Pick<MemoryDocument, 'type' | 'content'> &
  Partial<Pick<MemoryDocument, 'scope' | 'workdir' | 'quarantine' | 'tags'>>

/**
 * What keeps a document from others, if anything: it waits for a person, holds a secret, reads like an instruction to
 * an agent, is no learning, teaching or marker, or was learned in no folder that could be shared. Looked at when it is
 * shared, and again before it leaves. One that cannot be searched for secrets counts as one that has some.
 */
export function findSharingObstacle(document: SharedContent): SharingObstacle | undefined {
  const { type, scope, workdir, quarantine, content, tags = [] } = document
  if (quarantine !== undefined) return 'held'
  if (type === 'message' || type === 'artifact') return 'type'
  if (scope === 'workdir' && workdir === undefined) return 'folder'
  if (hasSecret([content, ...tags].join('\n'))) return 'secret'
  return toGateVerdict(content, { toolTexts: [] }).kind === 'quarantine' ? 'instructs' : undefined
}

function hasSecret(text: string): boolean {
  try {
    return findSecrets(text).length > 0
  } catch {
    return true
  }
}
