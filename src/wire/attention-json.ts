import { boolean, field, isObject, list, object, string } from '#base'
import type {
  Ask,
  Attention,
  AttentionState,
  LapseReason,
  PermissionRule,
  Question,
  Resolution,
} from '#model'

/** Reads an attention that was written down or sent. What is not one is `undefined`. */
export function readAttention(value: unknown): Attention | undefined {
  const id = string(value, 'id')
  const sessionId = string(value, 'sessionId')
  const openedAt = string(value, 'openedAt')
  const hash = string(value, 'hash')
  const ask = readAsk(field(value, 'ask'))
  const state = readAttentionState(field(value, 'state'))
  if (id === undefined || sessionId === undefined || openedAt === undefined || hash === undefined)
    return undefined
  const masked = boolean(value, 'masked') === true ? { masked: true as const } : {}
  return ask && state && { id, sessionId, openedAt, ask, hash, state, ...masked }
}

/** Reads what is asked. */
export function readAsk(value: unknown): Ask | undefined {
  const workdir = string(value, 'workdir')
  if (workdir === undefined) return undefined
  const toolUseId = string(value, 'toolUseId')
  const changed = string(value, 'changed')
  const common = {
    workdir,
    ...(toolUseId === undefined ? {} : { toolUseId }),
    ...(changed === undefined ? {} : { changed }),
  }
  switch (string(value, 'kind')) {
    case 'permission': {
      const tool = string(value, 'tool')
      if (tool === undefined) return undefined
      const agentId = string(value, 'agentId')
      const reason = string(value, 'reason')
      const rules = all(list(value, 'rules'), readRule)
      return (
        rules && {
          kind: 'permission',
          tool,
          input: field(value, 'input'),
          ...common,
          ...(agentId === undefined ? {} : { agentId }),
          ...(reason === undefined ? {} : { reason }),
          rules,
          canEdit: boolean(value, 'canEdit') ?? false,
        }
      )
    }
    case 'question': {
      const questions = all(list(value, 'questions'), readQuestion)
      return questions && { kind: 'question', ...common, questions }
    }
    default:
      return undefined
  }
}

/** Reads an answer. Of the fields of a kind none is guessed: an allowance is one only when it says so. */
export function readResolution(value: unknown): Resolution | undefined {
  switch (string(value, 'kind')) {
    case 'allow': {
      const rules = all(list(value, 'rules'), asString)
      const edited = isObject(value) && 'input' in value ? { input: value['input'] } : {}
      return rules && { kind: 'allow', rules, ...edited }
    }
    case 'deny': {
      const words = string(value, 'words')
      const interrupt = boolean(value, 'interrupt')
      return {
        kind: 'deny',
        ...(words === undefined ? {} : { words }),
        ...(interrupt === undefined ? {} : { interrupt }),
      }
    }
    case 'answer': {
      const answers = all(list(value, 'answers'), (answer) =>
        Array.isArray(answer) ? all(answer, asString) : undefined,
      )
      return answers && { kind: 'answer', answers }
    }
    default:
      return undefined
  }
}

const LAPSE_REASONS: readonly LapseReason[] = [
  'agent-gone',
  'withdrawn',
  'deadline',
  'session-ended',
  'changed',
]

/** Reads how an attention stands. */
export function readAttentionState(value: unknown): AttentionState | undefined {
  const at = string(value, 'at')
  switch (string(value, 'state')) {
    case 'open':
      return { state: 'open' }
    case 'resolved': {
      const resolution = readResolution(object(value, 'resolution'))
      const by = string(value, 'by')
      return resolution && by !== undefined && at !== undefined
        ? { state: 'resolved', resolution, by, at }
        : undefined
    }
    case 'lapsed': {
      const reason = LAPSE_REASONS.find((known) => known === string(value, 'reason'))
      return reason && at !== undefined ? { state: 'lapsed', reason, at } : undefined
    }
    default:
      return undefined
  }
}

function readRule(value: unknown): PermissionRule | undefined {
  const id = string(value, 'id')
  const words = string(value, 'words')
  const scope = string(value, 'scope')
  if (id === undefined || words === undefined) return undefined
  if (scope !== 'session' && scope !== 'always') return undefined
  return { id, scope, words, value: field(value, 'value') }
}

function readQuestion(value: unknown): Question | undefined {
  const question = string(value, 'question')
  const header = string(value, 'header')
  const options = all(list(value, 'options'), (option) => {
    const label = string(option, 'label')
    const description = string(option, 'description')
    return label === undefined ? undefined : { label, ...(description === undefined ? {} : { description }) }
  })
  if (question === undefined || !options) return undefined
  return {
    question,
    ...(header === undefined ? {} : { header }),
    options,
    multiple: boolean(value, 'multiple') ?? false,
    free: boolean(value, 'free') ?? false,
  }
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** All of a list, or nothing when one of them cannot be read: half of an answer is another answer. */
function all<T>(
  values: readonly unknown[],
  read: (value: unknown) => T | undefined,
): readonly T[] | undefined {
  const found: T[] = []
  for (const value of values) {
    const item = read(value)
    if (item === undefined) return undefined
    found.push(item)
  }
  return found
}
