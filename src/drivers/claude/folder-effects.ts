import { field, isObject, list, object, parseJson, string } from '#base'
import type { SettingsEffect } from '#model'

type Effect = Omit<SettingsEffect, 'file'>

/** Settings that neither run, allow nor redirect anything. Every other one is shown, also one nobody knows yet. */
const HARMLESS: ReadonlySet<string> = new Set([
  '$schema',
  'attribution',
  'bashOutputMaxChars',
  'cleanupPeriodDays',
  'disableAllHooks',
  'disabledMcpjsonServers',
  'includeCoAuthoredBy',
  'includeGitInstructions',
  'language',
  'respectGitignore',
  'taskOutputMaxChars',
  'theme',
])

/** Settings whose text is run. */
const RUNS = /(?:Helper|Refresh|Export|Wrapper|Command)$/

/** What a file of settings does. */
export function toSettingsEffects(text: string): readonly Effect[] {
  const settings = parseJson(text)
  if (!isObject(settings)) return [{ kind: 'other', name: 'unreadable', what: 'this is no JSON object' }]
  return Object.entries(settings).flatMap(([key, value]) => toEffects(key, value))
}

function toEffects(key: string, value: unknown): readonly Effect[] {
  switch (key) {
    case 'hooks':
      return toHooks(value)
    case 'permissions':
      return toPermissions(value)
    case 'env':
      return entriesOf(value).map(([name, text]) => ({ kind: 'environment', name, what: inWords(text) }))
    case 'enableAllProjectMcpServers':
      return value === true
        ? [
            {
              kind: 'allow',
              name: key,
              what: 'every server of .mcp.json is started without being asked about',
            },
          ]
        : []
    case 'enabledMcpjsonServers':
      return [{ kind: 'allow', name: key, what: inWords(value) }]
    default:
      return toOther(key, value)
  }
}

function toOther(key: string, value: unknown): readonly Effect[] {
  if (HARMLESS.has(key) || value === null || value === false) return []
  const command = string(value, 'command')
  if (command !== undefined) return [{ kind: 'command', name: key, what: command }]
  if (RUNS.test(key)) return [{ kind: 'command', name: key, what: inWords(value) }]
  return [{ kind: 'other', name: key, what: inWords(value) }]
}

/** The hooks of settings, of an agent or of a plugin. */
function toHooks(value: unknown): readonly Effect[] {
  return entriesOf(value).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : [groups]).flatMap((group: unknown) => {
      const matcher = string(group, 'matcher') ?? ''
      const name = matcher === '' ? event : `${event}(${matcher})`
      const hooks = list(group, 'hooks')
      if (hooks.length === 0) return [{ kind: 'hook' as const, name, what: inWords(group) }]
      return hooks.map((hook) => ({ kind: 'hook' as const, name, what: toHookWords(hook) }))
    }),
  )
}

function toHookWords(hook: unknown): string {
  const what = string(hook, 'command') ?? string(hook, 'url') ?? string(hook, 'prompt')
  const type = string(hook, 'type') ?? 'command'
  if (what === undefined) return inWords(hook)
  const args = list(hook, 'args')
  const line = args.length === 0 ? what : [what, ...args].map(quoted).join(' ')
  return type === 'command' ? line : `${type}: ${line}`
}

function toPermissions(value: unknown): readonly Effect[] {
  const known: readonly string[] = ['allow', 'deny', 'ask', 'additionalDirectories', 'defaultMode']
  const mode = string(value, 'defaultMode')
  const rules = list(value, 'allow').map((rule) => ({
    kind: 'allow' as const,
    name: 'permissions.allow',
    what: inWords(rule),
  }))
  const folders = list(value, 'additionalDirectories').map((folder) => ({
    kind: 'allow' as const,
    name: 'permissions.additionalDirectories',
    what: inWords(folder),
  }))
  const others = entriesOf(value).flatMap(([key, what]) =>
    known.includes(key) ? [] : toOther(`permissions.${key}`, what),
  )
  const isWidening = mode !== undefined && mode !== 'default' && mode !== 'plan'
  return [
    ...(isWidening ? [{ kind: 'mode' as const, name: 'permissions.defaultMode', what: mode }] : []),
    ...rules,
    ...folders,
    ...others,
  ]
}

/** The servers of an `.mcp.json`. */
export function toServerEffects(text: string): readonly Effect[] {
  const value = parseJson(text)
  if (!isObject(value)) return [{ kind: 'other', name: 'unreadable', what: 'this is no JSON object' }]
  const servers = object(value, 'mcpServers') ?? value
  return entriesOf(servers).map(([name, server]) => ({
    kind: 'mcp-server',
    name,
    what: toServerWords(server),
  }))
}

function toServerWords(server: unknown): string {
  const command = string(server, 'command')
  const line = command === undefined ? undefined : [command, ...list(server, 'args')].map(quoted).join(' ')
  const env = entriesOf(field(server, 'env')).map(([name, value]) => `${name}=${quoted(value)}`)
  const rest = isObject(server)
    ? Object.entries(server).filter(([key]) => !['command', 'args', 'env', 'type', 'url'].includes(key))
    : []
  const words = [...env, line ?? string(server, 'url') ?? inWords(server)].join(' ')
  return rest.length === 0 || (line === undefined && string(server, 'url') === undefined)
    ? words
    : `${words} ${JSON.stringify(Object.fromEntries(rest))}`
}

/** What the head of an agent, a command or a skill allows or runs; and what its text runs before it is said. */
export function toTextEffects(path: string, text: string): readonly Effect[] {
  const [, head = ''] = /^\uFEFF?---\r?\n([^]*?)\r?\n---/.exec(text) ?? []
  const acts = /^(?:allowed-tools|hooks|mcpServers|permissionMode|disallowedTools|tools)\s*:/m.test(head)
  const commands = [...text.matchAll(/!`([^`\n]+)`/g)].map(([, command = '']) => command)
  const blocks = [...text.matchAll(/^```!\r?\n([^]*?)^```/gm)].map(([, command = '']) => command.trim())
  return [
    { kind: 'instructions', name: path, what: `${Buffer.byteLength(text)} bytes for the model` },
    ...(acts ? [{ kind: 'other' as const, name: `head of ${path}`, what: head }] : []),
    ...[...commands, ...blocks].map((what) => ({ kind: 'command' as const, name: `in ${path}`, what })),
  ]
}

/** From what needs the most care to what needs the least. */
const WEIGHT: readonly SettingsEffect['kind'][] = [
  'mode',
  'hook',
  'mcp-server',
  'command',
  'environment',
  'allow',
  'other',
  'instructions',
]

export function byWeight(effects: readonly SettingsEffect[]): readonly SettingsEffect[] {
  return effects.toSorted((a, b) => WEIGHT.indexOf(a.kind) - WEIGHT.indexOf(b.kind))
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : []
}

function quoted(word: unknown): string {
  const text = inWords(word)
  return /^[\w@%+=:,./$-]+$/.test(text) ? text : JSON.stringify(text)
}

function inWords(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
