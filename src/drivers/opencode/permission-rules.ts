import { isObject, object, string, type JsonObject } from '#base'

/** A rule of opencode: the name of a permission, and an action or one for each pattern. The last one that fits holds. */
type Rule = readonly [name: string, rule: unknown]

/** Tools that change something, run something or reach something outside. A blanket `allow` of one is not kept. */
const RISKY = ['bash', 'edit', 'write', 'apply_patch', 'webfetch', 'websearch', 'codesearch']

/**
 * What holds before the rules of a configuration. Whatever is not named is a tool that a plugin brings: opencode would
 * run it without asking, and does not offer it to the model when it is denied.
 */
const BASE: JsonObject = {
  '*': 'deny',
  bash: 'ask',
  edit: 'ask',
  webfetch: 'ask',
  websearch: 'ask',
  codesearch: 'ask',
  doom_loop: 'ask',
  external_directory: { '*': 'ask', '*/opencode/tool-output/*': 'allow' },
  read: { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask', '*.env.example': 'allow' },
  glob: 'allow',
  grep: 'allow',
  list: 'allow',
  lsp: 'allow',
  todoread: 'allow',
  todowrite: 'allow',
  skill: 'allow',
  task: 'allow',
  question: 'allow',
}

/** What the agents that come with opencode may not do, whatever holds for all agents. */
const NATIVE: Readonly<Record<string, JsonObject>> = {
  build: {},
  plan: { edit: 'deny', task: { general: 'deny' } },
  general: { todowrite: 'deny', question: 'deny' },
  explore: { edit: 'deny', todowrite: 'deny', task: 'deny', question: 'deny' },
  compaction: { '*': 'deny' },
  title: { '*': 'deny' },
  summary: { '*': 'deny' },
}
const NATIVE_SUBAGENTS = new Set(['general', 'explore'])

/**
 * Permissions that make opencode ask a person before anything is changed, run or fetched, made from the configuration
 * that it has resolved. They are merged into that: each of them repeats what is there, and goes on behind it. What the
 * configuration denies stays denied, and what it allows by the name of a command, a tool or a path stays allowed.
 *
 * A subagent cannot ask over the protocol: opencode would wait for an answer for ever. What it would have to ask for is
 * denied to it, and left to the agent that started it.
 */
export function toAskingConfig(config: JsonObject): {
  readonly permission: JsonObject
  readonly agent: Readonly<Record<string, { readonly permission: JsonObject }>>
} {
  const common = toRules(config['permission'])
  const servers = Object.keys(object(config, 'mcp') ?? {})
  const shared: readonly Rule[] = [
    ...Object.entries(BASE),
    ...servers.map((server): Rule => [`${toToolName(server)}_*`, 'ask']),
    ...keepNarrow(common),
  ]
  const configured = object(config, 'agent') ?? {}
  const agent: Record<string, { readonly permission: JsonObject }> = {}
  for (const name of new Set([...Object.keys(NATIVE), ...Object.keys(configured)])) {
    const given = object(configured, name)
    const own = toRules(given?.['permission'])
    const native = Object.hasOwn(NATIVE, name) ? NATIVE[name] : undefined
    const rules = [...shared, ...Object.entries(native ?? {}), ...keepNarrow(own)]
    const isSubagent = isRunAsSubagent(name, {
      mode: string(given, 'mode'),
      isDefault: name === config['default_agent'],
    })
    agent[name] = { permission: append(own, isSubagent ? rules.map(denyAsks) : rules) }
  }
  return { permission: append(common, shared), agent }
}

function isRunAsSubagent(
  name: string,
  { mode, isDefault }: { readonly mode: string | undefined; readonly isDefault: boolean },
): boolean {
  if (mode === 'subagent' || NATIVE_SUBAGENTS.has(name)) return true
  return mode !== 'primary' && !isDefault && !Object.hasOwn(NATIVE, name)
}

/** A permission may be one word, for everything. */
function toRules(value: unknown): JsonObject {
  return isObject(value) ? value : typeof value === 'string' ? { '*': value } : {}
}

/** The rules without the `allow` that names nothing in particular. */
function keepNarrow(rules: JsonObject): readonly Rule[] {
  return Object.entries(rules).flatMap(([name, rule]): readonly Rule[] => {
    if (!isRisky(name)) return [[name, rule]]
    if (isObject(rule)) return [[name, keepNarrowPatterns(rule, isBlanket(name))]]
    if (rule !== 'allow') return [[name, rule]]
    // To ask about everything would be to ask about reading, too. What has no rule of its own asks already.
    return isBlanket(name) ? [] : [[name, 'ask']]
  })
}

function keepNarrowPatterns(rule: JsonObject, isForAll: boolean): JsonObject {
  const kept: Record<string, unknown> = {}
  for (const [pattern, action] of Object.entries(rule)) {
    if (action !== 'allow' || !(isForAll || isBlanket(pattern))) kept[pattern] = action
    else if (!isForAll) kept[pattern] = 'ask'
  }
  return kept
}

function isRisky(name: string): boolean {
  const escaped = name.replaceAll(/[.+^${}()|[\]\\]/gu, String.raw`\$&`)
  const pattern = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'su')
  return RISKY.some((risky) => pattern.test(risky))
}

function isBlanket(pattern: string): boolean {
  return /^[*?]+$/u.test(pattern)
}

function denyAsk(action: unknown): unknown {
  return action === 'ask' ? 'deny' : action
}

function denyAsks([name, rule]: Rule): Rule {
  if (!isObject(rule)) return [name, denyAsk(rule)]
  return [
    name,
    Object.fromEntries(Object.entries(rule).map(([pattern, action]) => [pattern, denyAsk(action)])),
  ]
}

/**
 * What is there, and rules behind it. A name that is there already would take its place, and is spelled as a pattern
 * that matches the same name instead.
 */
function append(there: JsonObject, rules: readonly Rule[]): JsonObject {
  const all: Record<string, unknown> = { ...there }
  for (const [name, rule] of rules) {
    let spelled = name
    for (let times = 0; Object.hasOwn(all, spelled); times += 1) spelled = respell(name, times)
    all[spelled] = rule
  }
  return all
}

/** Another pattern for the same name: `edit` becomes `?dit`, then `e?it`; `*` becomes `**`. */
function respell(name: string, times: number): string {
  const places = [...name.matchAll(/[^*?]/gu)].map(({ index }) => index)
  const place = places[times]
  if (place === undefined) return `${name}${'*'.repeat(times - places.length + 1)}`
  return `${name.slice(0, place)}?${name.slice(place + 1)}`
}

/** As opencode writes the name of a server before that of its tool. */
function toToolName(server: string): string {
  return server.replaceAll(/[^a-zA-Z0-9_-]/gu, '_')
}
