import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { field, parseJson, string } from '#base'
import { findClaude } from '#drivers'
import { exactText } from '#render'
import {
  expectOurs,
  PLUGIN_ID,
  readPluginState,
  removePlugin,
  toClaudePlugin,
  writePlugin,
  type PluginState,
} from './claude-plugin.ts'
import type { Values } from './command-line.ts'
import type { ConfiguredAgent } from './connect-config.ts'
import type { Console } from './console.ts'
import { findReadyDaemon } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import { toShortPath } from './short.ts'
import type { Site } from './site.ts'

/** `throughline connect` */
export async function connectAgent(site: Site, values: Values, console: Console): Promise<number> {
  const agent = findConfigured(values)
  if (agent !== undefined) {
    const { connectConfigured } = await import('./connect-config.ts')
    return await connectConfigured(agent, { site, values, console })
  }
  const plugin = toClaudePlugin(site)
  expectOurs(plugin)
  const before = readPluginState(plugin)
  const isDry = values.flag('dry-run')
  const changes = plugin.files.map((file) => ({
    ...file,
    change: before === 'current' ? 'none' : existsSync(file.path) ? 'replace' : 'create',
  }))
  if (!isDry && before !== 'current') writePlugin(plugin)
  const missing = await findMissing(site, isDry ? before : readPluginState(plugin))
  if (values.flag('json')) {
    const state = isDry ? before : readPluginState(plugin)
    const facts = { agent: 'claude-code', dryRun: isDry, state, folder: plugin.folder }
    await console.out.write(toJsonLine({ ...facts, files: changes, missing }))
    return 0
  }
  const shown = toShortPath(plugin.folder, console.home)
  if (isDry) {
    for (const { path, content, change } of changes) await showChange(change, path, { content, console })
    console.say('note: nothing was changed, and no other file would be.')
  } else {
    console.say(before === 'current' ? `Connected already: ${shown}` : `Connected: ${shown}`)
    console.say('note: sessions that run already take it up with /reload-plugins.')
  }
  for (const { message, hint } of missing) {
    console.say(`note: ${message}`)
    console.say(`next: ${hint}`)
  }
  return 0
}

/** `throughline disconnect` */
export async function disconnectAgent(site: Site, values: Values, console: Console): Promise<number> {
  const agent = findConfigured(values)
  if (agent !== undefined) {
    const { disconnectConfigured } = await import('./connect-config.ts')
    return await disconnectConfigured(agent, { site, values, console })
  }
  const plugin = toClaudePlugin(site)
  expectOurs(plugin)
  const before = readPluginState(plugin)
  const isDry = values.flag('dry-run')
  const isThere = before === 'current' || before === 'other'
  const changes = plugin.files
    .filter(({ path }) => isThere && existsSync(path))
    .map(({ path }) => ({ path, change: 'remove' }))
  if (!isDry) removePlugin(plugin)
  if (values.flag('json')) {
    const facts = { agent: 'claude-code', dryRun: isDry, state: readPluginState(plugin) }
    await console.out.write(toJsonLine({ ...facts, folder: plugin.folder, files: changes }))
    return 0
  }
  const shown = toShortPath(plugin.folder, console.home)
  if (!isThere) console.say(`There is nothing of ours at ${shown}`)
  else if (!isDry) console.say(`Disconnected: removed ${shown}`)
  else for (const { path, change } of changes) await showChange(change, path, { console })
  if (isDry) console.say('note: nothing was changed.')
  return 0
}

/** The agent that is meant, where it is one whose settings are edited; Claude Code has a folder for plugins. */
function findConfigured({ args: [agent] }: Values): ConfiguredAgent | undefined {
  return agent === 'codex' || agent === 'gemini' ? agent : undefined
}

/** What is said of it beside other things: in `status`. */
export function describeConnection(site: Site): { readonly state: PluginState; readonly words: string } {
  const state = readPluginState(toClaudePlugin(site))
  return { state, words: WORDS[state] }
}

const WORDS: Readonly<Record<PluginState, string>> = {
  absent: 'not connected (`throughline connect claude-code`)',
  current: 'connected',
  other: 'connected for another version or place: `throughline connect claude-code` again',
  foreign: 'not connected: something else has its place',
  unreadable: 'unknown: the folder of the plugin cannot be read',
}

async function showChange(
  change: string,
  path: string,
  { content, console }: { readonly content?: string; readonly console: Console },
): Promise<void> {
  const mark = { create: '+', replace: '~', remove: '-' }[change] ?? '='
  await console.out.write(`${console.paint('strong', `${mark} ${toShortPath(path, console.home)}`)}\n`)
  if (content !== undefined) await console.out.write(`${exactText(content).replaceAll(/^(?=.)/gm, '    ')}\n`)
}

interface Missing {
  readonly message: string
  readonly hint: string
}

/** What else it takes until a dialog can be answered from elsewhere. */
async function findMissing(site: Site, state: PluginState): Promise<readonly Missing[]> {
  const missing: Missing[] = []
  const claude = findClaude(site.env['PATH'] ?? '', process.cwd())
  if (claude === undefined) {
    const message = 'no `claude` was found on your path; the plugin waits for one.'
    missing.push({ message, hint: 'Install Claude Code.' })
  } else if (state === 'current') {
    const trouble = await askClaude(claude, site)
    if (trouble !== undefined) missing.push(trouble)
  }
  if ((await findReadyDaemon(site.home)) === undefined) {
    const message = 'no daemon runs: dialogs can be answered only in their terminals.'
    missing.push({
      message,
      hint: 'Start it with `throughline`, or with your login: `throughline service install`.',
    })
  }
  return missing
}

const PATIENCE_MS = 10_000

/** Whether Claude Code itself sees the plugin: older versions do not look there, and a setting may turn it off. */
async function askClaude(claude: string, site: Site): Promise<Missing | undefined> {
  const asked = await promisify(execFile)(claude, ['plugin', 'list', '--json'], {
    env: { ...site.env, CLAUDE_CONFIG_DIR: site.claudeDir },
    timeout: PATIENCE_MS,
  }).catch(() => undefined)
  const plugins = parseJson(asked?.stdout ?? '')
  if (!Array.isArray(plugins)) {
    const message = `${claude} does not say which plugins it has.`
    return { message, hint: 'Run `claude plugin list` and look for throughline.' }
  }
  const ours = plugins.find((plugin) => string(plugin, 'id') === PLUGIN_ID)
  if (ours === undefined) {
    const message = 'this Claude Code does not load plugins from its folder of skills.'
    return { message, hint: 'Update it: `claude update`.' }
  }
  if (field(ours, 'enabled') === true) return undefined
  return {
    message: 'the plugin is disabled in Claude Code.',
    hint: `Run \`claude plugin enable ${PLUGIN_ID}\`.`,
  }
}
