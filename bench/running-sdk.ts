import { query, type Query, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { string, type JsonObject } from '#base'

interface SdkOptions {
  readonly executable: string
  readonly workdir: string
  readonly env: JsonObject
}

/**
 * The Agent SDK as a program uses it that keeps nothing: one session in this process, asked as our driver asks it.
 * Ready when the agent takes prompts. Told `start`, it begins another session; told `prompt`, it says how long the
 * first word of the answer took, once all of it is there.
 */
export async function openSdk(
  options: SdkOptions,
): Promise<{ answer(asked: unknown): Promise<object>; report(): object }> {
  let session = await openSession(options)
  return {
    async answer(asked) {
      const text = string(asked, 'text')
      if (string(asked, 'do') === 'prompt' && text !== undefined) return { ms: await session.prompt(text) }
      session.close()
      const begun = performance.now()
      session = await openSession(options)
      return { ms: performance.now() - begun }
    },
    report() {
      session.close()
      return {}
    },
  }
}

interface SdkSession {
  /** Milliseconds to the first word. Resolves at the end of the turn. */
  prompt(text: string): Promise<number>
  close(): void
}

async function openSession({ executable, workdir, env }: SdkOptions): Promise<SdkSession> {
  const prompts = createPrompts()
  const running = query({
    prompt: prompts.all(),
    options: {
      pathToClaudeCodeExecutable: executable,
      cwd: workdir,
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
      systemPrompt: { type: 'preset', preset: 'claude_code' },
      settingSources: ['user', 'project', 'local'],
      includePartialMessages: true,
      permissionMode: 'default',
      canUseTool: async () => ({ behavior: 'deny', message: 'nobody is asked here' }),
    },
  })
  const turns = followTurns(running)
  await running.initializationResult()
  return {
    async prompt(text) {
      const turn = turns.next()
      const begun = performance.now()
      prompts.push(text)
      return (await turn) - begun
    },
    close: () => running.close(),
  }
}

/** Reads everything the agent says; gives for a turn when its first word came, once it is over. */
function followTurns(running: Query): { next(): Promise<number> } {
  let waiting: { readonly resolve: (at: number) => void; readonly reject: (why: unknown) => void } | undefined
  async function follow(): Promise<void> {
    let first: number | undefined
    for await (const message of running) {
      if (message.type === 'stream_event') {
        const { event } = message
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
          first ??= performance.now()
      }
      if (message.type !== 'result') continue
      if (first === undefined) waiting?.reject(new Error('a turn without a word'))
      else waiting?.resolve(first)
      first = undefined
    }
  }
  follow().catch((error: unknown) => waiting?.reject(error))
  return {
    next: () =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
      }),
  }
}

function createPrompts(): { push(text: string): void; all(): AsyncGenerator<SDKUserMessage> } {
  const waiting: string[] = []
  let wake: (() => void) | undefined
  return {
    push(text) {
      waiting.push(text)
      wake?.()
    },
    async *all() {
      for (;;) {
        const text = waiting.shift()
        if (text !== undefined) {
          yield {
            type: 'user',
            message: { role: 'user', content: [{ type: 'text', text }] },
            parent_tool_use_id: null,
          }
          continue
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
