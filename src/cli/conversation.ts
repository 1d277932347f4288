import type { Throughline } from '#wire'
import { ThroughlineError } from '#base'
import type { Console } from './console.ts'
import { follow } from './follow.ts'
import { toPrompt } from './live-session.ts'
import type { Terminal } from './terminal.ts'

export interface ConversationOptions {
  readonly throughline: Throughline
  readonly sessionId: string
  readonly console: Console
  readonly isJson: boolean
  readonly terminal: Terminal | undefined
  readonly editor: string | undefined
}

const INVITATION = '> '

/** Shows a session from the turn it is in, and hands over what the person types. Ctrl-D leaves it alone. */
export async function converse(options: ConversationOptions): Promise<number> {
  const { throughline, sessionId, console, terminal } = options
  const ownPrompts = new Set<string>()
  let begun: string[] = []

  async function send(text: string): Promise<void> {
    const prompt = toPrompt(text)
    ownPrompts.add(prompt.id)
    try {
      await throughline.live.prompt(sessionId, prompt)
    } catch (error) {
      if (!(error instanceof ThroughlineError)) throw error
      console.say(`error: ${error.message}`)
      console.say(`next: ${error.hint}`)
    }
  }

  terminal?.listen((line) => {
    // A line that ends with a backslash goes on in the next one.
    if (line.endsWith('\\')) {
      begun.push(line.slice(0, -1))
      terminal.invite('… ')
      return
    }
    const text = [...begun, line].join('\n').trim()
    begun = []
    if (text !== '') void send(text)
    else terminal.invite(INVITATION)
  })
  return await follow({
    ...options,
    ownPrompts,
    denyAll: false,
    onIdle: () => terminal?.invite(begun.length > 0 ? '… ' : INVITATION),
  })
}
