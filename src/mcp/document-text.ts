import type { MemoryDocument } from '#model'
import { toMinute, type Quoting } from './quoting.ts'

/** A document on a few lines, with where it came from. */
export function describeDocument(document: MemoryDocument, quoting: Quoting, most: number): string {
  const { line, block } = quoting
  const source = document.provenance?.sessionId ?? document.sourceSessionId
  const entry = document.provenance?.entryId ?? document.sourceMessageId
  const facts = [
    document.category,
    ...(document.workdir === undefined ? [] : [`in ${line(document.workdir, 120)}`]),
    ...(document.pinned ? ['pinned'] : []),
    ...(document.tags.length === 0 ? [] : [`tags ${line(document.tags.join(', '), 120)}`]),
    ...(source === undefined ? [] : [`from session ${line(source, 128)}`]),
    ...(entry === undefined ? [] : [`entry ${line(entry, 128)}`]),
    ...toWarnings(document),
  ]
  return [
    `- ${toMinute(document.updatedAt)} ${document.type} ${line(document.id, 200)}`,
    `  ${facts.join(' · ')}`,
    `  ${block(document.content, most)}`,
  ].join('\n')
}

/** What is to be known before it is believed. */
function toWarnings({ quarantine, retiredAt, supersededBy, contradicts }: MemoryDocument): readonly string[] {
  return [
    ...(quarantine === undefined ? [] : ['held back until a person decides']),
    ...(retiredAt === undefined ? [] : ['retired']),
    ...(supersededBy === undefined ? [] : ['superseded']),
    ...(contradicts.length === 0 ? [] : ['contradicted by another, undecided']),
  ]
}
