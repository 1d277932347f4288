import type { Block, Message, Passage, SessionSummary, ToolAnswer, ToolCall } from '#model'
import { redactBlocks } from './blocks.ts'
import { redact } from './redact.ts'
import type { Secret } from './secret.ts'

/** Hears of every secret that was masked. */
export type OnSecret = (secret: Secret) => void

/**
 * A passage as it may be shown to others: every text in it without its secrets. What it was made of (`entries`) is not
 * part of what is shown, and stays. Throws `redaction-failed`; then nothing of it may be shown.
 */
export function redactPassage(passage: Passage, onSecret: OnSecret = () => {}): Passage {
  return passage.kind === 'damage' ? passage : redactMessage(passage, onSecret)
}

function redactMessage(passage: Message, onSecret: OnSecret): Message {
  const mask = { text: toMasking(onSecret), blocks: toBlockMasking(onSecret) }
  switch (passage.kind) {
    case 'prompt':
      return { ...passage, blocks: mask.blocks(passage.blocks) }
    case 'reply': {
      const calls = passage.calls.map((call) => redactCall(call, { mask, onSecret }))
      const uses = new Map(calls.map(({ use }) => [use.id, use]))
      const blocks = passage.blocks.flatMap((block) => {
        const use = block.kind === 'tool-use' ? uses.get(block.id) : undefined
        return use === undefined ? mask.blocks([block]) : [use]
      })
      const { model } = passage
      return { ...passage, blocks, calls, ...(model === undefined ? {} : { model: mask.text(model) }) }
    }
    case 'command': {
      const { command, args, output } = passage
      return {
        ...passage,
        ...(command === undefined ? {} : { command: mask.text(command) }),
        ...(args === undefined ? {} : { args: mask.text(args) }),
        ...(output === undefined ? {} : { output: mask.text(output) }),
      }
    }
    case 'compaction':
      return {
        ...passage,
        compaction: { ...passage.compaction, trigger: mask.text(passage.compaction.trigger) },
        summary: mask.blocks(passage.summary),
      }
    case 'notice':
      return { ...passage, text: mask.text(passage.text) }
    case 'orphan':
      return {
        ...passage,
        toolUseId: mask.text(passage.toolUseId),
        answer: redactAnswer(passage.answer, mask),
      }
    case 'aside':
      return passage
  }
}

/** What is told of a session at the head of an export, without secrets. */
export function redactSummary(session: SessionSummary): SessionSummary {
  const mask = toMasking(() => {})
  const { name, gitBranch, facts, firstPrompt } = session
  return {
    ...session,
    id: mask(session.id),
    agent: mask(session.agent),
    workdirs: session.workdirs.map(mask),
    ...(facts === undefined ? {} : { facts: { ...facts, models: facts.models.map(mask) } }),
    ...(firstPrompt === undefined ? {} : { firstPrompt: mask(firstPrompt) }),
    // It is made of the words of a prompt, and has a space where they had a line break.
    ...(name === undefined ? {} : { name: mask(mask(name).replaceAll(' ', '\n')).replaceAll('\n', ' ') }),
    ...(gitBranch === undefined ? {} : { gitBranch: mask(gitBranch) }),
  }
}

interface Masking {
  readonly text: (text: string) => string
  readonly blocks: (blocks: readonly Block[]) => readonly Block[]
}

function redactCall(
  call: ToolCall,
  { mask, onSecret }: { readonly mask: Masking; readonly onSecret: OnSecret },
): ToolCall {
  const [use = call.use] = mask.blocks([call.use])
  return {
    ...call,
    ...(use.kind === 'tool-use' ? { use } : {}),
    ...(call.result === undefined ? {} : { result: redactAnswer(call.result, mask) }),
    ...(call.work === undefined
      ? {}
      : { work: call.work.map((message) => redactMessage(message, onSecret)) }),
  }
}

function redactAnswer(answer: ToolAnswer, mask: Masking): ToolAnswer {
  return { ...answer, content: mask.blocks(answer.content) }
}

function toMasking(onSecret: OnSecret): (text: string) => string {
  return (given) => {
    const { text, found } = redact(given)
    for (const secret of found) onSecret(secret)
    return text
  }
}

function toBlockMasking(onSecret: OnSecret): Masking['blocks'] {
  return (given) => {
    const { blocks, found } = redactBlocks(given.map(withoutSeal))
    for (const secret of found) onSecret(secret)
    return blocks
  }
}

/** Who reads it cannot pass it on to a provider: its words may change when what they were signed with is not there. */
function withoutSeal(block: Block): Block {
  return block.kind === 'thinking' ? { ...block, signature: undefined } : block
}
