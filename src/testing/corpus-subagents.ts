import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  contextAttachments,
  environmentAttachment,
  listingAttachments,
  modelAttachment,
  snapshotAttachment,
} from './corpus-attachments.ts'
import { createCorpusFile } from './corpus-file.ts'
import { promptLine, replyLines, usageFields } from './corpus-messages.ts'
import { blobLine, requestLine, shapeLine } from './corpus-requests.ts'
import type { Ballast } from './corpus-requests.ts'
import { call, runCalls, toolCall } from './corpus-tools.ts'
import type { ToolCall } from './corpus-tools.ts'
import { Transcript } from './corpus-transcript.ts'

export interface SubagentPlace {
  /** `<projects>/<slug>/<session>` on disk. */
  readonly dir: string
  /** The same, relative to the config dir. */
  readonly path: string
}

export interface Subagent {
  readonly agentId: string
  readonly call: ToolCall
}

export interface SubagentPlan {
  readonly mode: 'foreground' | 'background'
  readonly steps: number
  readonly depth: number
  readonly needle?: boolean
}

/** A call of the Agent tool. Its transcript is a file of its own, written when the call runs. */
export function subagentCall(
  t: Transcript,
  at: SubagentPlace,
  ballast: Ballast,
  plan: SubagentPlan,
): Subagent {
  const agentId = `a${t.random.hex(16)}`
  const prompt = t.texts.prose(t.random, 300)
  const description = 'Look at the sources'
  const made = call(t, 'Agent', { description, prompt, subagent_type: 'general-purpose' }, () => {
    const sub = openSubagent(t, at, agentId)
    const report = writeSubagent(sub, at, ballast, plan, prompt)
    sub.o.file.close(sub.now)
    t.o.tally.file(sub.o.file.bytes, sub.o.file.lines, 'subagent')
    t.count(sub.spent)
    writeMeta(t, at, agentId, made.id, description, plan)
    if (plan.mode === 'background') {
      return {
        content: [{ type: 'text', text: `Async agent launched successfully.\nagentId: ${agentId}` }],
        result: {
          isAsync: true,
          status: 'async_launched',
          agentId,
          description,
          resolvedModel: t.o.model,
          prompt,
          outputFile: `/tmp/claude-1000/${t.o.sessionId}/tasks/${agentId}.output`,
          canReadOutputFile: true,
          canContinueAgent: true,
        },
      }
    }
    t.pass(sub.now - t.now)
    return {
      content: [{ type: 'text', text: `[Subagent hand-back]\n  ${report}\nagentId: ${agentId}` }],
      result: {
        status: 'completed',
        prompt,
        agentId,
        agentType: 'general-purpose',
        toolsUsed: [...sub.toolsUsed],
        content: [{ type: 'text', text: report }],
        resolvedModel: t.o.model,
        totalDurationMs: sub.now - sub.o.startedAt,
        totalTokens: sub.contextTokens,
        totalToolUseCount: plan.steps,
        // A trap: these tokens are in the subagent's file already.
        usage: usageFields(sub.spent),
        canContinueAgent: true,
      },
    }
  })
  return { agentId, call: made }
}

function openSubagent(t: Transcript, at: SubagentPlace, agentId: string): Transcript {
  const name = `subagents/agent-${agentId}.jsonl`
  return new Transcript({
    ...t.o,
    agentId,
    file: createCorpusFile(join(at.dir, name)),
    path: `${at.path}/${name}`,
    place: t.place,
    startedAt: t.now,
  })
}

function writeSubagent(
  t: Transcript,
  at: SubagentPlace,
  ballast: Ballast,
  plan: SubagentPlan,
  prompt: string,
): string {
  const { era } = t.o
  promptLine(t, prompt)
  if (era === 'full') {
    environmentAttachment(t)
    modelAttachment(t)
    listingAttachments(t, ballast)
    contextAttachments(t)
    snapshotAttachment(t, ballast, 'without tools')
    shapeLine(t, ballast)
    blobLine(t, 'user', [{ type: 'text', text: prompt }])
  }
  for (let step = 0; step < plan.steps; step++) {
    const nested = step === 0 && plan.depth === 1 && plan.steps > 4
    const made = nested
      ? subagentCall(t, at, ballast, { mode: 'foreground', steps: 2, depth: 2 }).call
      : toolCall(t, `${at.dir}/tool-results`)
    const ref = era === 'full' ? { requestRef: requestLine(t, ballast) } : {}
    const uses = replyLines(t, { blocks: [made.block], stop: 'tool_use', ...ref })
    runCalls(t, [made], uses)
  }
  const needle = plan.needle === true ? ` ${t.needle('subagent')}` : ''
  const report = `${t.texts.prose(t.random, t.random.int(80, 1_500))}${needle}`
  replyLines(t, { blocks: [{ type: 'text', text: report }], stop: 'end_turn' })
  // The hand-back repeats the report in the parent's file; a needle must be in one place only.
  return needle === '' ? report : 'See the report.'
}

function writeMeta(
  t: Transcript,
  at: SubagentPlace,
  agentId: string,
  toolUseId: string,
  description: string,
  plan: SubagentPlan,
): void {
  const meta = {
    agentType: 'general-purpose',
    isBuiltIn: true,
    description,
    toolUseId,
    ...(t.o.agentId === undefined ? {} : { parentAgentId: t.o.agentId }),
    spawnDepth: plan.depth,
    requestShape: plan.mode,
    requestNonInteractive: true,
    pickedEffortModel: t.o.model,
    finished: true,
  }
  writeFileSync(join(at.dir, `subagents/agent-${agentId}.meta.json`), JSON.stringify(meta))
  t.o.tally.otherFile()
}
