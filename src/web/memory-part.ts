import type { VNode } from 'preact'
import type { Block, PromptMessage, ReplyMessage } from '#model'

/** Something in a session that a person wants remembered. */
export interface Picked {
  readonly text: string
  /** What it stands in, all of it or a part. */
  readonly message: PromptMessage | ReplyMessage
}

/** What a session page has of memory, once that part of the app is loaded. */
export interface MemoryPart {
  /** An agent's words as they are shown: without its directives. */
  toShown(blocks: readonly Block[]): string
  /** Asks how something is to be remembered. */
  readonly remember: (picked: Picked) => void
  /** What the session began with, where none of its prompts says it. Stands before its first words. */
  renderTop(): VNode
  /** What lies over the conversation: a button at selected words, and the dialog. */
  renderOver(find: (id: string) => Picked['message'] | undefined): VNode
  close(): void
}

/** Whether a prompt may be a wake-up. Only a reader of them can tell. */
export function mayWake({ blocks }: PromptMessage): boolean {
  return blocks.some(
    (block) => block.kind === 'text' && /^<(?:previous-session|context) category="/m.test(block.text),
  )
}

/** Whether an agent's text may hold a directive. Only a reader of them can tell. */
export function mayDirect(text: string): boolean {
  return /\[(?:REMEMBER|MARKER|TEACH)\]/.test(text)
}
