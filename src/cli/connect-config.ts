import { join } from 'node:path'
import { ThroughlineError } from '#base'
import { exactText, toLineDiff } from '#render'
import { createCodexEdit } from './codex-config.ts'
import type { Values } from './command-line.ts'
import type { ConfigEdit, EntryState } from './config-edit.ts'
import { readConfigFile, writeConfigFile, type ConfigFile } from './config-file.ts'
import type { Console } from './console.ts'
import { createGeminiEdit } from './gemini-config.ts'
import { toJsonLine } from './json.ts'
import { findTerminal } from './live-session.ts'
import { toMcpEntry } from './mcp-entry.ts'
import { toShortPath } from './short.ts'
import type { Site } from './site.ts'

/** An agent whose settings are a file that people edit. */
export type ConfiguredAgent = 'codex' | 'gemini'

const NAMES: Readonly<Record<ConfiguredAgent, string>> = { codex: 'Codex', gemini: 'Gemini' }

/** Where an agent keeps its settings, and how our entry is put into them. */
function settingsOf(
  agent: ConfiguredAgent,
  site: Site,
): { readonly path: string; readonly edit: ConfigEdit } {
  const entry = toMcpEntry(site)
  switch (agent) {
    case 'codex': {
      const given = site.env['CODEX_HOME']
      const folder = given === undefined || given === '' ? join(site.userHome, '.codex') : given
      return { path: join(folder, 'config.toml'), edit: createCodexEdit(entry) }
    }
    case 'gemini':
      return { path: join(site.userHome, '.gemini', 'settings.json'), edit: createGeminiEdit(entry) }
  }
}

/** `throughline connect codex`, `throughline connect gemini` */
export async function connectConfigured(
  agent: ConfiguredAgent,
  options: { readonly site: Site; readonly values: Values; readonly console: Console },
): Promise<number> {
  const { path, edit } = settingsOf(agent, options.site)
  const file = readConfigFile(path)
  const state = getState(file, edit)
  const entry = edit.entry(file.text)
  const isCurrent = state.kind === 'ours' && state.text === entry
  const without = state.kind === 'ours' ? edit.remove(file.text ?? '') : file.text
  const after = isCurrent ? file.text : edit.insert(without, entry)
  const done = {
    done: `Connected: ${NAMES[agent]} starts \`throughline mcp\` in new sessions.`,
    nothing: 'Connected already',
  }
  return await change({ agent, file, after, ...done }, options)
}

/** `throughline disconnect codex`, `throughline disconnect gemini` */
export async function disconnectConfigured(
  agent: ConfiguredAgent,
  options: { readonly site: Site; readonly values: Values; readonly console: Console },
): Promise<number> {
  const { path, edit } = settingsOf(agent, options.site)
  const file = readConfigFile(path)
  const state = getState(file, edit)
  const after = state.kind === 'ours' ? edit.remove(file.text ?? '') : file.text
  const done = { done: 'Disconnected', nothing: 'There is nothing of ours in' }
  return await change({ agent, file, after, ...done }, options)
}

/** Throws where nothing may be changed. */
function getState({ path, text }: ConfigFile, edit: ConfigEdit): EntryState {
  const state: EntryState = text === undefined ? { kind: 'absent' } : edit.find(text)
  if (state.kind === 'foreign') {
    throw new ThroughlineError('output-exists', `${path} has a server called throughline that is not ours`, {
      hint: 'Nothing was changed. Give it another name, or remove it, then try again.',
    })
  }
  if (state.kind === 'unclear') {
    throw new ThroughlineError('config-invalid', `${path} cannot be added to: ${state.reason}`, {
      hint: 'Nothing was changed. Put it right first, or add `throughline mcp` to its MCP servers by hand.',
    })
  }
  return state
}

interface Change {
  readonly agent: ConfiguredAgent
  readonly file: ConfigFile
  readonly after: string | undefined
  readonly done: string
  readonly nothing: string
}

async function change(
  { agent, file, after, done, nothing }: Change,
  { values, console }: { readonly values: Values; readonly console: Console },
): Promise<number> {
  const isSame = after === file.text
  const isDry = values.flag('dry-run')
  const shown = toShortPath(file.path, console.home)
  if (values.flag('json')) {
    const isMade = !isSame && !isDry && values.flag('yes')
    if (isMade) writeConfigFile(file, after)
    const facts = { agent, dryRun: isDry, path: file.path, target: file.target, changed: isMade }
    // Only what changes: the rest of somebody's settings may hold what is not for everybody.
    const lines = toLineDiff(file.text ?? '', after ?? '').filter(({ kind }) => kind !== 'same')
    await console.out.write(toJsonLine({ ...facts, lines }))
    return isSame || isDry || isMade ? 0 : 1
  }
  if (isSame) {
    console.say(`${nothing}: ${shown}`)
    return 0
  }
  await show(file, after, console)
  if (isDry) {
    console.say('note: nothing was changed, and no other file would be.')
    return 0
  }
  if (!(await mayWrite(values, console))) {
    console.say('note: nothing was changed.')
    console.say('next: say yes, or add --yes.')
    return 1
  }
  writeConfigFile(file, after)
  console.say(done)
  return 0
}

/** A file of the person's own is changed only when they have seen how, and said yes. */
async function mayWrite(values: Values, console: Console): Promise<boolean> {
  if (values.flag('yes')) return true
  await console.out.flush()
  const terminal = findTerminal(console, values)
  const answer = await terminal?.ask('change it? y/n: ')
  terminal?.close()
  return /^\s*y(?:es)?\s*$/i.test(answer ?? '')
}

const AROUND = 2

/** The lines that change, with some around them. */
async function show(file: ConfigFile, after: string | undefined, console: Console): Promise<void> {
  const mark = file.text === undefined ? '+' : after === undefined ? '-' : '~'
  const link = file.target === file.path ? '' : ` → ${toShortPath(file.target, console.home)}`
  await console.out.write(
    `${console.paint('strong', `${mark} ${toShortPath(file.path, console.home)}${link}`)}\n`,
  )
  const lines = toLineDiff(file.text ?? '', after ?? '')
  const changed = lines.flatMap(({ kind }, index) => (kind === 'same' ? [] : [index]))
  const [first = 0, last = -1] = [changed[0], changed.at(-1)]
  for (const { kind, text } of lines.slice(Math.max(0, first - AROUND), last + 1 + AROUND)) {
    const sign = kind === 'added' ? '+' : kind === 'removed' ? '-' : ' '
    await console.out.write(`    ${sign} ${exactText(text)}\n`)
  }
}
