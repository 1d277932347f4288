import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { ThroughlineError } from '#base'
import type { Provider } from '../turn.ts'

/** Where the requests for each provider go on to. */
export type Upstreams = Readonly<Record<Provider, URL>>

/** A place that requests go on to. */
export interface Route {
  readonly provider: Provider
  readonly upstream: URL
  /** The target of the request at the upstream, with its query. */
  readonly target: string
}

const PROVIDERS: readonly Provider[] = ['anthropic', 'openai', 'gemini']

/** Who logged in to Codex with an account of ChatGPT is answered elsewhere. */
const CHATGPT = new URL('https://chatgpt.com/backend-api/codex')

/** The default of every provider, without a slash at its end. */
export const DEFAULT_UPSTREAMS: Readonly<Record<Provider, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com',
}

/**
 * An address that requests may go on to. Plain `http` is only for this machine, unless `plain` says that it is for
 * others too: keys would cross the network in the open.
 */
export function getUpstream(text: string, options: { readonly plain?: 'anywhere' | 'loopback' } = {}): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isAllowed =
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && (options.plain === 'anywhere' || isLoopback(url.hostname)))
  if (url !== undefined && isAllowed && url.username === '' && url.password === '' && url.search === '')
    return url
  throw new ThroughlineError('bad-usage', `requests cannot go on to ${shown(url)}`, {
    hint: 'Give an address that begins with https://, without a key in it. Plain http is for this machine only; --plain-upstream allows others.',
  })
}

/** An address without what may be a key. */
function shown(url: URL | undefined): string {
  return url === undefined ? 'an address that is none' : `${url.protocol}//${url.host}`
}

/** Whether a name can only mean this machine. */
function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/gu, '').toLowerCase()
  if (bare === 'localhost' || bare === '::1') return true
  return isIP(bare) === 4 && bare.startsWith('127.')
}

/** What is wrong with a request before it is looked at where it goes, as a status. */
export function findRefusal(headers: Readonly<Record<string, unknown>>, port: number): 403 | 421 | undefined {
  const host = typeof headers['host'] === 'string' ? headers['host'] : ''
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined
  // A page that has a name of its own lead to this machine still says that name.
  if (url === undefined || !isLoopback(url.hostname) || (url.port || '80') !== String(port)) return 421
  const site = headers['sec-fetch-site']
  const isPage = headers['origin'] !== undefined || (site !== undefined && site !== 'none')
  return isPage ? 403 : undefined
}

/** Where a request goes on to; nothing for whoever does not know the secret. */
export function findRoute(
  url: string,
  options: {
    readonly secret: string
    readonly upstreams: Upstreams
    readonly headers: Readonly<Record<string, unknown>>
  },
): Route | undefined {
  const [, secret = '', name = ''] = /^\/([^/?#]*)\/([^/?#]*)/u.exec(url) ?? []
  if (!isSame(secret, options.secret)) return undefined
  const provider = PROVIDERS.find((one) => one === name)
  const rest = url.slice(secret.length + name.length + 2)
  if (provider === undefined || leadsUp(rest)) return undefined
  const given = options.upstreams[provider]
  const isAccount =
    provider === 'openai' &&
    given.href === DEFAULT_UPSTREAMS.openai &&
    options.headers['chatgpt-account-id'] !== undefined
  const upstream = isAccount ? CHATGPT : given
  const target = `${upstream.pathname.replace(/\/+$/u, '')}${rest}`
  return { provider, upstream, target: target.startsWith('/') ? target : `/${target}` }
}

function isSame(given: string, secret: string): boolean {
  return timingSafeEqual(toHash(given), toHash(secret))
}

function toHash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Whether a path leaves the folder of the upstream, or is read differently by those on the way. */
function leadsUp(rest: string): boolean {
  const [path = ''] = rest.split(/[?#]/u)
  const plain = path.replaceAll(/%2e/giu, '.').replaceAll(/%2f/giu, '/').replaceAll(/%5c/giu, '\\')
  return plain.includes('\\') || plain.split('/').some((part) => part === '..' || part === '.')
}
