import type { CanUseTool, PermissionResult, PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import { isObject, list, string, type JsonObject } from '#base'
import type { Ask, PermissionRule, Question, Resolution } from '#model'
import { toDenialWords } from '../denial.ts'

type Circumstances = Parameters<CanUseTool>[2]

/** One request of Claude Code: what a person is shown, and how their answer is said back. */
export interface ToolRequest {
  readonly ask: Ask
  /** Whatever is not clearly a yes is a no. */
  readonly toResult: (resolution: Resolution | undefined) => PermissionResult
}

export interface ToolRequestOptions {
  readonly workdir: string
  /** Whether settings of the folder are loaded: a rule that is kept there means something only then. */
  readonly trusted: boolean
}

/** Reads what Claude Code asks before it runs a tool. Questions are asked the same way, as a tool. */
export function readToolRequest(
  tool: string,
  input: JsonObject,
  circumstances: Circumstances,
  options: ToolRequestOptions,
): ToolRequest {
  const questions = tool === 'AskUserQuestion' ? readQuestions(input) : []
  if (questions.length > 0) return toQuestionRequest(questions, input, circumstances, options)

  const offers = toOffers(circumstances, options)
  const toolUseID = circumstances.toolUseID
  return {
    ask: {
      kind: 'permission',
      tool,
      input,
      workdir: options.workdir,
      toolUseId: toolUseID,
      agentId: circumstances.agentID,
      reason: circumstances.decisionReason ?? circumstances.title,
      rules: offers.map((offer) => offer.rule),
      canEdit: true,
    },
    toResult(resolution) {
      if (resolution?.kind !== 'allow') return toRefusal(resolution, toolUseID)
      const updatedInput = resolution.input === undefined ? input : resolution.input
      // Not knowing what to run instead is no permission to run what was asked.
      if (!isObject(updatedInput)) return toRefusal(undefined, toolUseID)
      const chosen = offers.filter((offer) => resolution.rules.includes(offer.rule.id))
      return {
        behavior: 'allow',
        // Always there: without it older versions take an answer for a refusal.
        updatedInput: { ...updatedInput },
        ...(chosen.length > 0 ? { updatedPermissions: chosen.map((offer) => offer.update) } : {}),
        toolUseID,
        decisionClassification: chosen.some((offer) => offer.rule.scope === 'always')
          ? 'user_permanent'
          : 'user_temporary',
      }
    },
  }
}

function toQuestionRequest(
  questions: readonly Question[],
  input: JsonObject,
  circumstances: Circumstances,
  options: ToolRequestOptions,
): ToolRequest {
  const toolUseID = circumstances.toolUseID
  return {
    ask: { kind: 'question', workdir: options.workdir, toolUseId: toolUseID, questions },
    toResult(resolution) {
      if (resolution?.kind !== 'answer') return toRefusal(resolution, toolUseID)
      const answers: Record<string, string> = {}
      for (const [index, { question }] of questions.entries()) {
        const words = resolution.answers[index]?.join(', ') ?? ''
        if (words !== '') answers[question] = words
      }
      return { behavior: 'allow', updatedInput: { ...input, answers }, toolUseID }
    },
  }
}

function toRefusal(resolution: Resolution | undefined, toolUseID: string): PermissionResult {
  const denied = resolution?.kind === 'deny' ? resolution : undefined
  return {
    behavior: 'deny',
    message: toDenialWords(denied),
    ...(denied?.interrupt === true ? { interrupt: true } : {}),
    toolUseID,
    decisionClassification: 'user_reject',
  }
}

interface Offer {
  readonly rule: PermissionRule
  readonly update: PermissionUpdate
}

/**
 * What an answer could allow beyond this once. Claude Code suggests several things at a time, and sent back together
 * they would also stop it from asking about edits at all: each is an offer of its own. A rule to be kept can also be
 * had for this session only.
 */
function toOffers(circumstances: Circumstances, options: ToolRequestOptions): readonly Offer[] {
  const updates: PermissionUpdate[] = []
  for (const update of circumstances.suggestions ?? []) {
    if (!widensOnlyWhatItSays(update)) continue
    if (update.destination === 'session') updates.push(update)
    else updates.push({ ...update, destination: 'session' }, update)
  }
  return updates
    .filter((update) => isOffered(update, circumstances, options))
    .map((update, index) => {
      const scope = update.destination === 'session' ? ('session' as const) : ('always' as const)
      return {
        update,
        rule: { id: `rule-${String(index + 1)}`, scope, words: toWords(update), value: update },
      }
    })
}

function isOffered(
  update: PermissionUpdate,
  circumstances: Circumstances,
  options: ToolRequestOptions,
): boolean {
  if (update.destination === 'session') return true
  if (circumstances.suppressAlwaysAllowRule === true) return false
  return options.trusted
}

/** Modes in which nobody is asked, rules that take something back, and whatever comes to be later are not offered. */
function widensOnlyWhatItSays(update: PermissionUpdate): boolean {
  if (update.type === 'addRules') return update.behavior === 'allow' && update.rules.length > 0
  if (update.type === 'addDirectories') return update.directories.length > 0
  return update.type === 'setMode' && ['acceptEdits', 'default', 'plan'].includes(update.mode)
}

function toWords(update: PermissionUpdate): string {
  const kept = KEPT_IN[update.destination] ?? ''
  switch (update.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules':
      return `${update.rules.map(({ toolName, ruleContent }) => (ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`)).join(', ')}${kept}`
    case 'addDirectories':
    case 'removeDirectories':
      return `Files in ${update.directories.join(', ')}${kept}`
    case 'setMode':
      return `${MODE_WORDS[update.mode] ?? update.mode}${kept}`
  }
}

const KEPT_IN: Readonly<Record<string, string>> = {
  userSettings: ', in every project',
  projectSettings: ', in this project, for everybody who works on it',
  localSettings: ', in this project',
}

const MODE_WORDS: Readonly<Record<string, string>> = {
  acceptEdits: 'All edits without asking',
  default: 'Ask as usual',
  plan: 'Plan only',
}

function readQuestions(input: JsonObject): readonly Question[] {
  return list(input, 'questions').flatMap((value) => {
    const question = string(value, 'question')
    if (question === undefined) return []
    const options = list(value, 'options').flatMap((option) => {
      const label = string(option, 'label')
      return label === undefined ? [] : [{ label, description: string(option, 'description') }]
    })
    const multiple = isObject(value) && value['multiSelect'] === true
    return [{ question, header: string(value, 'header'), options, multiple, free: true }]
  })
}
