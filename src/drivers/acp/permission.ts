import { field, list, object, string } from '#base'
import type { Ask, PermissionRule, Resolution } from '#model'
import { toInput, type ToolCall } from './tool-call.ts'

/** What the agent is told: one of its own options, or that nobody chose any. */
export type Outcome =
  | { readonly outcome: 'selected'; readonly optionId: string }
  | { readonly outcome: 'cancelled' }

/** One request of the agent: what a person is shown, and how their answer is said back. */
export interface PermissionRequest {
  readonly ask: Ask
  /**
   * The option that says exactly what the person chose, and nothing else: this once, one of the rules, or no. Where
   * there is no such option the answer is a no. An edited input cannot be said back, so it is one, too.
   */
  readonly toOutcome: (resolution: Resolution | undefined) => Outcome
}

interface Option {
  readonly id: string
  readonly kind: string
  readonly name: string
}

/** Nobody chose. */
export const CANCELLED: Outcome = { outcome: 'cancelled' }

/** Reads a `session/request_permission`; `call` is what is known of the tool call that it is about. */
export function readPermission(params: unknown, call: ToolCall, workdir: string): PermissionRequest {
  const options = readOptions(params)
  const lasting = options
    .filter(({ kind }) => kind === 'allow_always')
    .map((option, index) => ({ option, rule: toRule(option, index) }))

  const no = (): Outcome => select(options.find(({ kind }) => kind === 'reject_once'))

  return {
    ask: {
      kind: 'permission',
      tool: call.name,
      input: toInput(call),
      workdir,
      toolUseId: call.id,
      reason: toReason(field(params, 'toolCall')) ?? call.title,
      rules: lasting.map(({ rule }) => rule),
      canEdit: false,
    },
    toOutcome(resolution) {
      // That nobody answered, or something that is no answer, is not a person's no.
      if (resolution?.kind === 'deny') return resolution.interrupt === true ? CANCELLED : no()
      if (resolution?.kind !== 'allow') return CANCELLED
      if (resolution.input !== undefined) return no()
      const [chosen, ...others] = resolution.rules
      if (chosen === undefined) {
        const once = options.find(({ kind }) => kind === 'allow_once')
        return once ? select(once) : no()
      }
      // One option can be chosen, and none of them says two things.
      if (others.length > 0) return no()
      const found = lasting.find(({ rule }) => rule.id === chosen)
      return found ? select(found.option) : no()
    },
  }
}

/** What the agent says of the question, with the places outside the folder that it is about. */
function toReason(asked: unknown): string | undefined {
  const title = string(asked, 'title')
  const details = object(asked, 'rawInput')
  const folders = list(details, 'directories').filter((each) => typeof each === 'string')
  const folder = string(details, 'parentDir')
  const outside = folders.length > 0 ? folders : folder === undefined ? [] : [folder]
  return outside.length === 0 ? title : `${title ?? 'access'}, outside the folder: ${outside.join(', ')}`
}

function select(option: Option | undefined): Outcome {
  return option ? { outcome: 'selected', optionId: option.id } : CANCELLED
}

/** Two options under one id cannot be told apart by an answer, so neither of them is there. */
function readOptions(params: unknown): readonly Option[] {
  const options = list(params, 'options').flatMap((value) => {
    const id = string(value, 'optionId')
    const kind = string(value, 'kind')
    return id === undefined || kind === undefined ? [] : [{ id, kind, name: string(value, 'name') ?? id }]
  })
  return options.filter(({ id }) => options.filter((other) => other.id === id).length === 1)
}

/** The protocol has one word for "for this session" and "always"; the name of the option says which is meant. */
function toRule({ id, name }: Option, index: number): PermissionRule {
  const isForSession = /\bsession\b|\bconversation\b/iu.test(`${name} ${id.replaceAll(/[_-]/gu, ' ')}`)
  return {
    id: `rule-${String(index + 1)}`,
    scope: isForSession ? 'session' : 'always',
    words: name,
    value: id,
  }
}
