import { signal, type ReadonlySignal } from '@preact/signals'
import { list, parseJson, string, ThroughlineError } from '#base'
import { textOf, type Block } from '#model'
import type { LiveCalls, PromptRequest } from '#wire'

/** A prompt of this device, from the moment it is sent until somebody else has it. */
interface OwnPrompt {
  readonly id: string
  readonly blocks: readonly Block[]
  readonly at: string
  readonly state: 'sending' | 'sent' | 'failed'
  /** Why it was not taken, and what to do about it. */
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string } | undefined
}

/** How a prompt that nobody can take goes to a session: with what it is to be begun again. */
interface SendOptions {
  /** Nobody runs the session: it goes on with the prompt. */
  readonly isOver: boolean
  readonly takeOver?: boolean
  /** Where it continues, when its own folder does not exist. */
  readonly workdir?: string | undefined
  readonly model?: string | undefined
  readonly mode?: 'plan' | 'default' | 'accept-edits' | undefined
}

export interface OutboxOptions {
  readonly sessionId: string
  readonly live: Pick<LiveCalls, 'prompt' | 'resume'>
  /** Where unsent prompts outlive the page. */
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  readonly now: () => number
  readonly mintId: () => string
  readonly sleep: (ms: number) => Promise<void>
}

/** The prompts of this device that are on their way. */
export interface Outbox {
  readonly prompts: ReadonlySignal<readonly OwnPrompt[]>
  /** Shown at once. Tried again with the same id until somebody has it, or says that it cannot be taken. */
  send(blocks: readonly Block[], options: SendOptions): Promise<void>
  /** Sends one again that failed. */
  again(id: string, options: SendOptions): Promise<void>
  /** Forgets one: it is shown by somebody else now, or nobody wants it any more. */
  drop(ids: (id: string) => boolean): void
  close(): void
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8000
/** What passes by itself: nobody answered, or somebody is not ready. */
const PASSING: ReadonlySet<string> = new Set([
  'daemon-unreachable',
  'host-unreachable',
  'session-pending',
  'too-many-requests',
])

export function createOutbox(options: OutboxOptions): Outbox {
  const { sessionId, live, storage } = options
  const key = `throughline.unsent.${sessionId}`
  const prompts = signal<readonly OwnPrompt[]>(readUnsent(storage.getItem(key)))
  let isClosed = false

  function change(id: string, to: Partial<OwnPrompt>): void {
    prompts.value = prompts.value.map((one) => (one.id === id ? { ...one, ...to } : one))
    keep()
  }

  /** Words survive a reload; what was attached to them is too large for that. */
  function keep(): void {
    const unsent = prompts.value.filter(({ state }) => state !== 'sent')
    if (unsent.length === 0) storage.removeItem(key)
    else
      storage.setItem(
        key,
        JSON.stringify(unsent.map(({ id, at, blocks }) => ({ id, at, text: textOf(blocks) }))),
      )
  }

  async function deliver(prompt: PromptRequest, send: SendOptions): Promise<void> {
    let { isOver } = send
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        if (isOver) await live.resume(sessionId, { ...toRun(send), prompt })
        else await live.prompt(sessionId, prompt)
        return change(prompt.id, { state: 'sent', error: undefined })
      } catch (error) {
        const failure = toFailure(error)
        if (failure.code === 'session-ended' && !isOver) {
          isOver = true
          continue
        }
        if (!PASSING.has(failure.code)) return change(prompt.id, { state: 'failed', error: failure })
        change(prompt.id, { error: failure })
        await options.sleep(pause)
        if (isClosed) return
      }
    }
  }

  return {
    prompts,
    async send(blocks, send) {
      const id = options.mintId()
      const at = new Date(options.now()).toISOString()
      prompts.value = [...prompts.value, { id, blocks, at, state: 'sending' }]
      keep()
      await deliver({ id, blocks }, send)
    },
    async again(id, send) {
      const found = prompts.value.find((one) => one.id === id)
      if (found === undefined) return
      change(id, { state: 'sending', error: undefined })
      await deliver({ id, blocks: found.blocks }, send)
    },
    drop(isWanted) {
      const left = prompts.value.filter(({ id }) => !isWanted(id))
      if (left.length === prompts.value.length) return
      prompts.value = left
      keep()
    },
    close() {
      isClosed = true
    },
  }
}

function toRun({ takeOver, workdir, model, mode }: SendOptions): Omit<SendOptions, 'isOver'> {
  return {
    ...(takeOver === undefined ? {} : { takeOver }),
    ...(workdir === undefined ? {} : { workdir }),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { mode }),
  }
}

/** What went wrong, in the words of whoever said it. */
export function toFailure(error: unknown): {
  readonly code: string
  readonly message: string
  readonly hint: string
} {
  if (error instanceof ThroughlineError) return { code: error.code, message: error.message, hint: error.hint }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), hint: '' }
}

function readUnsent(text: string | null): readonly OwnPrompt[] {
  const kept: unknown = text === null ? undefined : parseJson(text)
  return list({ kept }, 'kept').flatMap((item): readonly OwnPrompt[] => {
    const [id, at, words] = [string(item, 'id'), string(item, 'at'), string(item, 'text')]
    if (id === undefined || at === undefined || words === undefined) return []
    const error = {
      code: 'internal',
      message: 'The page was closed before anybody had this.',
      hint: 'Sending it again sends it once: whoever has it already takes it for the same.',
    }
    return [{ id, at, blocks: [{ kind: 'text', text: words }], state: 'failed', error }]
  })
}
