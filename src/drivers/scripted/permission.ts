import { isObject, list, string } from '#base'
import type { Ask, PermissionRule, Resolution } from '#model'
import { askPerson } from '../asking.ts'
import { toDenialWords } from '../denial.ts'
import type { ToolCue } from './cues.ts'
import type { Stage } from './stage.ts'
import type { ToolAnswer } from './tools.ts'

/** A tool that the model calls. */
export interface Call {
  readonly cue: ToolCue
  readonly toolUseId: string
  readonly callId: string
}

/** What is to be done with a call: run it with this input, or take this for its answer. */
export type Asked =
  | { readonly kind: 'run'; readonly input: unknown }
  | { readonly kind: 'answered'; readonly answer: ToolAnswer; readonly stops: boolean }

/** Asks a person about a call, where it must be asked for. */
export async function askFirst({ cue, toolUseId }: Call, stage: Stage): Promise<Asked> {
  const { start, signal } = stage
  if (cue.name !== 'AskUserQuestion' && !mustAsk(cue, stage)) return { kind: 'run', input: cue.input }
  const ask = toAsk(cue, toolUseId, start.workdir)
  const resolution = await askPerson(start.ask, ask, signal)
  return hear(ask, resolution, cue, stage)
}

function hear(ask: Ask, resolution: Resolution | undefined, cue: ToolCue, stage: Stage): Asked {
  if (ask.kind === 'question') {
    if (resolution?.kind !== 'answer') return toRefusal(resolution)
    const words = ask.questions.map(
      ({ question }, at) => `"${question}"="${resolution.answers[at]?.join(', ') ?? ''}"`,
    )
    return {
      kind: 'answered',
      answer: { text: `Answered: ${words.join(', ')}`, isError: false },
      stops: false,
    }
  }
  if (resolution?.kind !== 'allow') return toRefusal(resolution)
  const input = resolution.input === undefined ? cue.input : resolution.input
  if (!isObject(input)) return toRefusal(undefined)
  for (const rule of ask.rules.filter(({ id }) => resolution.rules.includes(id))) {
    if (rule.value === 'accept-edits') stage.setMode('accept-edits')
    else stage.granted.add(rule.words)
  }
  return { kind: 'run', input }
}

function toRefusal(resolution: Resolution | undefined): Asked {
  const denied = resolution?.kind === 'deny' ? resolution : undefined
  const text = toDenialWords(denied)
  return { kind: 'answered', answer: { text, isError: true }, stops: denied?.interrupt === true }
}

function mustAsk(cue: ToolCue, { mode, granted }: Stage): boolean {
  if (mode() === 'bypass' || cue.name === 'Read') return false
  if (mode() === 'accept-edits' && cue.name === 'Write') return false
  return !granted.has(toWords(cue))
}

function toAsk(cue: ToolCue, toolUseId: string, workdir: string): Ask {
  if (cue.name === 'AskUserQuestion')
    return { kind: 'question', workdir, toolUseId, questions: toQuestions(cue.input) }
  const words = toWords(cue)
  const rules: PermissionRule[] = [{ id: 'rule-1', scope: 'session', words, value: words }]
  if (cue.name === 'Write')
    rules.push({ id: 'rule-2', scope: 'session', words: 'All edits without asking', value: 'accept-edits' })
  return { kind: 'permission', tool: cue.name, input: cue.input, workdir, toolUseId, rules, canEdit: true }
}

function toQuestions(input: unknown): Extract<Ask, { kind: 'question' }>['questions'] {
  return list(input, 'questions').map((value) => ({
    question: string(value, 'question') ?? '',
    header: string(value, 'header'),
    options: list(value, 'options').map((option) => ({
      label: string(option, 'label') ?? '',
      description: string(option, 'description'),
    })),
    multiple: isObject(value) && value['multiSelect'] === true,
    free: true,
  }))
}

function toWords({ name, input }: ToolCue): string {
  return `${name}(${string(input, 'command') ?? string(input, 'file_path') ?? JSON.stringify(input)})`
}
