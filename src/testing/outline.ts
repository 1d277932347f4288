import { toMessages, toTurns, type Message, type SessionSummary, type ToolCall, type Usage } from '#model'
import type { Throughline } from '#app'

/**
 * A session as a page of plain text that a person can check against the transcript by eye: turns, words, calls with
 * their ends, tokens, branches, damage. Golden files are made of it.
 */
export async function outlineOf(
  throughline: Pick<Throughline, 'passages' | 'conversation'>,
  session: SessionSummary,
): Promise<string> {
  const out: string[] = [
    `session ${session.id}`,
    `  name ${quoted(session.name)} from ${session.nameFrom ?? 'nothing'}, state ${session.state}`,
    `  workdirs ${session.workdirs.join(', ')}${session.workdirsComplete ? '' : ' …'} branch ${session.gitBranch ?? '-'}`,
    `  ${session.createdAt ?? '?'} to ${session.lastActivityAt ?? '?'}`,
  ]
  const { facts } = session
  if (facts) {
    out.push(
      `  ${facts.lines} lines, ${facts.entries} entries, ${facts.prompts} prompts, ${facts.replies} replies, ` +
        `${facts.toolCalls} calls, ${facts.turns} turns, ${facts.compactions} compactions, ${facts.branches} branches`,
      `  tokens ${tokens(facts.usage)}; inherited ${tokens(facts.inherited)}; context ${facts.contextTokens ?? '-'}`,
      `  models ${facts.models.join(', ') || '-'}`,
    )
    for (const { offset, length, reason } of facts.damage)
      out.push(`  damage ${reason} at ${offset}, ${length} bytes`)
  }
  const messages: Message[] = []
  for await (const passages of throughline.passages(session)) {
    for (const passage of passages) if (passage.kind !== 'damage') messages.push(passage)
  }
  for (const [index, turn] of toTurns(messages).entries()) {
    out.push(`turn ${index + 1}: ${turn.state}, ${turn.toolCalls} calls, ${tokens(turn.usage)}`)
    for (const message of turn.messages) out.push(...linesOf(message).map((line) => `  ${line}`))
  }
  out.push(`the model sees: ${await modelView(throughline, session)}`)
  for (const subagent of session.subagents) {
    out.push(`subagent ${subagent.id} ${subagent.agentType ?? '?'} for ${subagent.toolUseId ?? '?'}`)
    for await (const passages of throughline.passages(session, { subagent: subagent.id })) {
      for (const passage of passages) {
        if (passage.kind !== 'damage') out.push(...linesOf(passage).map((line) => `  ${line}`))
      }
    }
  }
  return `${out.join('\n')}\n`
}

async function modelView(
  throughline: Pick<Throughline, 'conversation'>,
  session: SessionSummary,
): Promise<string> {
  const messages = toMessages(await throughline.conversation(session))
  const kinds = messages.filter(({ kind }) => kind !== 'aside').map((message) => message.kind)
  return kinds.join(' ')
}

function linesOf(message: Message): string[] {
  const off = message.offPath ? ' (off path)' : ''
  switch (message.kind) {
    case 'prompt':
      return [`> ${message.origin}${message.midTurn ? ' mid-turn' : ''}: ${blocksOf(message.blocks)}${off}`]
    case 'reply':
      return [
        `< ${blocksOf(message.blocks)} [${message.stopReason ?? 'no stop'}]${off}`,
        ...message.calls.map(callOf),
      ]
    case 'command':
      return [`/ ${message.command ?? '?'} ${quoted(message.args)} -> ${quoted(message.output)}${off}`]
    case 'compaction':
      return [`= compaction ${message.compaction.trigger}, summary ${blocksOf(message.summary)}${off}`]
    case 'notice':
      return [`! ${message.level}: ${quoted(message.text)}${off}`]
    case 'orphan':
      return [`? result without call ${message.toolUseId}${off}`]
    case 'aside':
      return []
  }
}

function callOf({ use, state, result }: ToolCall): string {
  const agent = result?.startedAgentId === undefined ? '' : ` agent ${result.startedAgentId}`
  return `    ${use.name} ${quoted(JSON.stringify(use.input))} -> ${state}: ${blocksOf(result?.content ?? [])}${agent}`
}

function blocksOf(
  blocks: readonly { readonly kind: string; readonly text?: string; readonly thinking?: string }[],
): string {
  return blocks.map((block) => `${block.kind}${wordsOf(block)}`).join(' + ')
}

function wordsOf(block: { readonly text?: string; readonly thinking?: string }): string {
  const words = block.text ?? block.thinking
  return words === undefined ? '' : ` ${quoted(words)}`
}

function quoted(text: string | undefined): string {
  if (text === undefined) return '-'
  return text.length > 70 ? `${JSON.stringify(text.slice(0, 60))}… (${text.length})` : JSON.stringify(text)
}

function tokens(usage: Usage): string {
  return `${usage.input} in, ${usage.output} out, ${usage.cacheRead} cached, ${usage.cacheCreation} written`
}
