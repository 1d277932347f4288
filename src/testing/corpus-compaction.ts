import {
  environmentAttachment,
  fileAttachment,
  listingAttachments,
  modelAttachment,
} from './corpus-attachments.ts'
import { systemLine, userLine } from './corpus-messages.ts'
import { localCommandLines } from './corpus-episodes.ts'
import type { Scene } from './corpus-turns.ts'
import type { PathStep, Transcript } from './corpus-transcript.ts'

/**
 * Everything so far becomes a summary. The last messages may be kept word for word: they stay where they are,
 * before the boundary, and the boundary names them.
 */
export function compact(
  t: Transcript,
  scene: Scene,
  { trigger, needle }: { readonly trigger: 'manual' | 'auto'; readonly needle?: boolean },
): void {
  const preserved = t.o.era === 'full' ? preservedSteps(t) : []
  const before = t.contextTokens
  t.contextTokens = t.random.int(2_000, 9_000)
  t.slug ??= `${t.random.pick(['pure', 'brave', 'quiet'])}-${t.random.pick(['mixing', 'humming'])}-${t.random.pick(['island', 'starfish'])}`
  const anchorUuid = t.random.uuid()
  const metadata = {
    trigger,
    preTokens: before,
    durationMs: t.random.int(100, 60_000),
    ...preservation(preserved, anchorUuid),
    postTokens: t.contextTokens,
    cumulativeDroppedTokens: before - t.contextTokens,
  }
  const logicalParentUuid = t.tip
  t.tip = null
  systemLine(t, 'compact_boundary', {
    logicalParentUuid,
    content: 'Conversation compacted',
    level: 'info',
    isMeta: false,
    compactMetadata: metadata,
  })
  t.compactions += 1
  t.name(anchorUuid)
  const text = `${t.texts.prose(t.random, t.random.int(900, 6_000))}${needle === true ? ` ${t.needle('summary')}` : ''}`
  userLine(
    t,
    'compact-summary',
    `This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n${text}`,
    {
      isVisibleInTranscriptOnly: true,
      isCompactSummary: true,
      turnPosition: { promptIndex: t.turn, turnIndex: t.turn },
    },
  )
  t.path = [{ uuid: anchorUuid, role: 'message' }, ...preserved]
  t.beside = []
  t.turnEnds = []
  if (trigger === 'manual') localCommandLines(t, 'compact', 'Compacted ')
  fileAttachment(t)
  if (t.o.era === 'lean') return
  listingAttachments(t, scene.ballast)
  environmentAttachment(t)
  modelAttachment(t)
}

/** The newest messages: whole API messages and whole tool calls, none from before the last compaction. */
function preservedSteps(t: Transcript): readonly PathStep[] {
  const wanted = t.random.int(1, 5)
  const steps: PathStep[] = []
  for (const step of t.path.slice(1).toReversed()) {
    if (steps.length >= wanted || step.tool === 'parallel') break
    if (step.role === 'message') steps.unshift(step)
  }
  const start = steps.findIndex((step) => step.tool !== 'result' && step.continues !== true)
  return start === -1 ? [] : steps.slice(start)
}

function preservation(steps: readonly PathStep[], anchorUuid: string): object {
  const uuids = steps.map((step) => step.uuid)
  if (uuids.length === 0) return {}
  return {
    preservedSegment: { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) },
    preservedMessages: { anchorUuid, uuids, allUuids: uuids },
  }
}
