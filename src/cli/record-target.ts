import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DEFAULT_UPSTREAMS, getUpstream, type Proxy, type Upstreams } from '#recorder'
import { readTables } from './toml-tables.ts'
import type { Values } from './command-line.ts'
import type { Site } from './site.ts'

/** What Codex is set to ask: it reads its settings, and no variable. */
export interface CodexTarget {
  /** The setting that names the address, for `-c`. */
  readonly key: string
  readonly url: string | undefined
}

/** Where requests go on to: what is given, what the variables of the clients say, or the providers themselves. */
export function toUpstreams(
  { env }: Pick<Site, 'env'>,
  values: Values,
  codex: CodexTarget | undefined,
): Upstreams {
  const plain = values.flag('plain-upstream') ? 'anywhere' : 'loopback'
  const url = (option: string, ...others: readonly (string | undefined)[]): URL =>
    getUpstream([values.value(option), ...others].find((one) => one !== undefined && one !== '') ?? '', {
      plain,
    })
  return {
    anthropic: url('upstream-anthropic', env['ANTHROPIC_BASE_URL'], DEFAULT_UPSTREAMS.anthropic),
    openai: url('upstream-openai', codex?.url, env['OPENAI_BASE_URL'], DEFAULT_UPSTREAMS.openai),
    gemini: url('upstream-gemini', env['GOOGLE_GEMINI_BASE_URL'], DEFAULT_UPSTREAMS.gemini),
  }
}

/** The environment in which a client of any of the providers asks the proxy. */
export function toChildEnv(
  env: Site['env'],
  proxy: Pick<Proxy, 'baseUrl'>,
): Readonly<Record<string, string | undefined>> {
  const openai = proxy.baseUrl('openai')
  const usesProxy = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].some(
    (name) => (env[name] ?? '') !== '',
  )
  const direct = [env['NO_PROXY'] ?? env['no_proxy'], '127.0.0.1', 'localhost']
    .filter((one) => (one ?? '') !== '')
    .join(',')
  return {
    ...env,
    ANTHROPIC_BASE_URL: proxy.baseUrl('anthropic'),
    OPENAI_BASE_URL: openai,
    OPENAI_API_BASE: openai,
    GOOGLE_GEMINI_BASE_URL: proxy.baseUrl('gemini'),
    ...(usesProxy ? { NO_PROXY: direct, no_proxy: direct } : {}),
  }
}

/** The command, with what Codex has to be told on its command line: its files stay as they are. */
export function toChildCommand(
  command: readonly string[],
  proxy: Pick<Proxy, 'baseUrl'>,
  codex: CodexTarget | undefined,
): readonly string[] {
  const at = codexAt(command)
  if (at < 0 || codex === undefined) return command
  const settings = [
    `${codex.key}=${JSON.stringify(proxy.baseUrl('openai'))}`,
    // Requests that it packs cannot be unpacked by every Node.
    'features.enable_request_compression=false',
  ]
  return [...command.slice(0, at + 1), ...settings.flatMap((one) => ['-c', one]), ...command.slice(at + 1)]
}

/** How Codex is set, when the command is Codex. */
export function findCodexTarget(
  command: readonly string[],
  { env, userHome }: Pick<Site, 'env' | 'userHome'>,
): CodexTarget | undefined {
  if (codexAt(command) < 0) return undefined
  const text = readText(join(env['CODEX_HOME'] || join(userHome, '.codex'), 'config.toml'))
  const own = { key: 'openai_base_url', url: findValue(text, [], 'openai_base_url') }
  const provider = findValue(text, [], 'model_provider')
  if (provider === undefined || provider === 'openai' || !/^[\w-]+$/u.test(provider)) return own
  const url = findValue(text, ['model_providers', provider], 'base_url')
  return url === undefined ? own : { key: `model_providers.${provider}.base_url`, url }
}

/** Codex itself, or the interpreter or runner that it is given to. */
function codexAt(command: readonly string[]): number {
  return command.slice(0, 3).findIndex((word) => /^codex(?:\.js|\.exe)?$/u.test(basename(word)))
}

/** The value of a key in a table, as far as it is a plain string. */
function findValue(text: string, path: readonly string[], key: string): string | undefined {
  const table = readTables(text)?.find((one) => one.path.join('\n') === path.join('\n'))
  if (table === undefined) return undefined
  const line = new RegExp(`^[ \\t]*${key}[ \\t]*=[ \\t]*["']([^"'\\\\\\n]*)["']`, 'mu')
  return line.exec(text.slice(table.start, table.end))?.[1]
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
