import type { JsonObject } from '#base'
import { NO_USAGE, addUsage, faultOf, readBlocks, textOf, type Usage } from '#model'
import type { TurnOutcome } from '#model'
import type { AgentPrompt } from '../driver.ts'
import { askFirst, type Call } from './permission.ts'
import { readCues, toPieces, toSegments, type Cue } from './cues.ts'
import { findPlay } from './plays.ts'
import { runTool, type ToolAnswer } from './tools.ts'
import type { Stage } from './stage.ts'

/** How the playing of cues can end before the last of them. */
class Stopped extends Error {
  readonly why: TurnOutcome | 'died'
  constructor(why: TurnOutcome | 'died') {
    super('the turn stopped')
    this.why = why
  }
}

interface Part {
  readonly id: string
  readonly block: JsonObject
}

/** Does what the cues of a prompt say, and tells it in the order of a real agent. */
export async function playTurn(prompt: AgentPrompt, stage: Stage): Promise<'over' | 'died'> {
  const { tell, transcript } = stage
  const earlier = [...transcript.prompts()]
  tell({ kind: 'turn.started', promptId: prompt.id })
  tell({ kind: 'message', id: prompt.id, role: 'person', blocks: prompt.blocks })
  transcript.addPrompt(prompt.id, prompt.blocks)
  let usage: Usage = NO_USAGE
  try {
    for (const segment of toSegments(readCues(toDirections(textOf(prompt.blocks))))) {
      const message = createScriptedMessage(stage)
      usage = addUsage(usage, await message.play(segment, earlier))
      for (const call of message.calls()) await answerCall(call, stage)
    }
    tell({ kind: 'turn.ended', outcome: { kind: 'answered', usage, costUsd: 0 } })
    return 'over'
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    if (error.why === 'died') return 'died'
    if (error.why.kind === 'interrupted') transcript.addInterruption()
    tell({ kind: 'turn.ended', outcome: error.why })
    return 'over'
  }
}

/** One message of the model: its blocks are told as they come, and kept when all of it is there. */
function createScriptedMessage(stage: Stage): {
  play(cues: readonly Cue[], earlier: readonly string[]): Promise<Usage>
  calls(): readonly Call[]
} {
  const { tell, transcript, signal, model } = stage
  const messageId = `msg_${transcript.nextId()}`
  const parts: Part[] = []
  const calls: Call[] = []
  let everyMs = 0
  let words = 0

  const keep = (stopReason: string | null): Usage => {
    const usage: Usage = { ...NO_USAGE, input: 10, output: words }
    transcript.addReply({ messageId, model, parts, stopReason, usage })
    return usage
  }

  /** Streams one block. What was said of it before a stop is kept, as a real agent keeps it. */
  async function stream(
    what: 'text' | 'thinking' | 'input',
    text: string,
    toBlock: (said: string) => JsonObject,
  ): Promise<Part> {
    const part = { id: transcript.nextId() }
    let said = ''
    for (const piece of what === 'input' ? [text] : toPieces(text)) {
      await pause(everyMs, signal)
      if (signal.aborted) {
        if (said !== '') parts.push({ ...part, block: toBlock(said) })
        break
      }
      said += piece
      words += 1
      tell({ kind: 'delta', messageId, block: parts.length, what, text: piece })
    }
    stopIfAborted()
    const whole = { ...part, block: toBlock(text) }
    tell({
      kind: 'message',
      id: whole.id,
      messageId,
      block: parts.length,
      role: 'agent',
      blocks: readBlocks([whole.block]),
      model,
    })
    parts.push(whole)
    return whole
  }

  function stopIfAborted(): void {
    if (!signal.aborted) return
    keep(null)
    throw new Stopped({ kind: 'interrupted' })
  }

  async function playCue(cue: Cue, earlier: readonly string[]): Promise<void> {
    switch (cue.kind) {
      case 'say':
        await stream('text', cue.text, (text) => ({ type: 'text', text }))
        return
      case 'recall':
        await stream('text', `Earlier: ${earlier.join(' / ')}`, (text) => ({ type: 'text', text }))
        return
      case 'think':
        await stream('thinking', cue.text, (thinking) => ({ type: 'thinking', thinking, signature: '' }))
        return
      case 'tool': {
        const toolUseId = `toolu_${transcript.nextId()}`
        const { id } = await stream('input', JSON.stringify(cue.input), () => ({
          type: 'tool_use',
          id: toolUseId,
          name: cue.name,
          input: cue.input,
        }))
        calls.push({ cue, toolUseId, callId: id })
        return
      }
      case 'slow':
        everyMs = cue.ms
        return
      case 'pause':
        await pause(cue.ms, signal)
        return stopIfAborted()
      case 'hang':
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve()
          else signal.addEventListener('abort', () => resolve(), { once: true })
        })
        return stopIfAborted()
      case 'fail':
        return fail(cue.status)
      case 'cut':
        tell({ kind: 'delta', messageId, block: parts.length, what: 'text', text: 'This breaks off in ' })
        throw new Stopped({ kind: 'failed', message: 'The answer broke off.', retry: true })
      case 'die':
        throw new Stopped('died')
    }
  }

  function fail(status: number): never {
    const retry = status === 429 || status >= 500
    const message = `API Error: ${String(status)}`
    if (retry) tell({ kind: 'retrying', message, status, attempt: 1, attempts: 1, inMs: 0 })
    throw new Stopped({ kind: 'failed', message, status, retry, fault: faultOf(message, status) })
  }

  return {
    calls: () => calls,
    async play(cues, earlier) {
      for (const cue of cues) await playCue(cue, earlier)
      return keep(calls.length > 0 ? 'tool_use' : 'end_turn')
    },
  }
}

async function answerCall(call: Call, stage: Stage): Promise<void> {
  const { start, transcript, tell, signal, mark } = stage
  const asked = await askFirst(call, stage)
  const answer: ToolAnswer =
    asked.kind === 'answered'
      ? asked.answer
      : await runTool(call.cue.name, asked.input, {
          workdir: start.workdir,
          env: start.env,
          sessionId: mark,
          signal,
        })
  const id = transcript.nextId()
  transcript.addResult({ id, toolUseId: call.toolUseId, callId: call.callId, ...answer })
  const content = {
    type: 'tool_result',
    tool_use_id: call.toolUseId,
    content: answer.text,
    is_error: answer.isError,
  }
  tell({ kind: 'message', id, role: 'tool', blocks: readBlocks([content]) })
  if (signal.aborted || (asked.kind === 'answered' && asked.stops)) throw new Stopped({ kind: 'interrupted' })
}

/** Waits so long, or until the turn is to stop; at least once around the loop, so that others get their turn. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) {
      setImmediate(resolve)
      return
    }
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })
}

/** What to do: as the prompt says, or as is known of it. */
function toDirections(prompt: string): string {
  return findPlay(prompt) ?? prompt
}
