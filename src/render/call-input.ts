import { string } from '#base'
import { textOf, type Block, type ToolCall } from '#model'

/** What ran: what the agent called with, or what a person made of it before they allowed it. */
export function ranInput({ use }: Pick<ToolCall, 'use'>): unknown {
  return use.changed === undefined ? use.input : use.changed.input
}

/** The plan that a call puts before a person: as it was approved, which may be edited, else as it was proposed. */
export function findPlan({ use, result }: ToolCall): string | undefined {
  if (use.name !== 'ExitPlanMode') return undefined
  const plan = APPROVED.exec(textOf(result?.content ?? []))?.[1] ?? string(use.input, 'plan')
  return plan === undefined || plan.trim() === '' ? undefined : plan
}

/** What Claude Code answers to a plan that was approved: the plan again, behind a heading of its own. */
const APPROVED = /\n##[^\n]{0,20} Approved Plan[^\n]{0,80}:[ \t]*\n([^]+)$/u

/** An answer to a plan, without the plan. */
export function withoutPlan(blocks: readonly Block[]): readonly Block[] {
  return blocks.map((block) =>
    block.kind === 'text' ? { ...block, text: block.text.replace(APPROVED, '') } : block,
  )
}

/** JSON of anything, indented; a value that is no JSON gives its plain text. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2) ?? String(value)
  } catch {
    return String(value)
  }
}
