import { readdirSync, readFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { isObject, number, parseJson, type JsonObject } from '#base'
import {
  createConversations,
  createProxyRecordings,
  getUpstream,
  openProxy,
  type Conversations,
  type Proxy,
  type ProxyOptions,
} from '#recorder'
import { openTempDir } from '#testing'

/** A proxy in this process, in front of one upstream, that records into a folder of its own. */
export interface ProxyPlace {
  readonly proxy: Proxy
  readonly conversations: Conversations
  readonly root: string
  readonly workdir: string
  readonly troubles: string[]
  /** Every recording and file of a subagent, as lines. */
  readonly read: () => readonly (readonly JsonObject[])[]
  /** Ends every recording. The proxy passes on what comes all the same. */
  readonly close: () => Promise<void>
}

export const SECRET = 'nobody-guesses-this'

export async function openProxyPlace(
  upstream: string,
  options: Partial<ProxyOptions> & { readonly folderFor?: () => Promise<string> } = {},
): Promise<ProxyPlace> {
  const dir = await openTempDir()
  const troubles: string[] = []
  const url = getUpstream(upstream)
  const conversations = createConversations({
    ...createProxyRecordings({
      folderFor: options.folderFor ?? (() => Promise.resolve(dir.path)),
      fallback: { agent: 'test', version: '1' },
      register: false,
    }),
    onTrouble: ({ message }) => troubles.push(message),
  })
  const proxy = await openProxy({
    upstreams: { anthropic: url, openai: url, gemini: url },
    conversations,
    secret: SECRET,
    onUnread: (message) => troubles.push(message),
    ...options,
  })
  return {
    proxy,
    conversations,
    root: dir.path,
    workdir: dir.path,
    troubles,
    read: () => readRecordings(dir.path),
    async close() {
      await proxy.close()
      await conversations.end()
      await dir.remove()
    },
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = number(server.address(), 'port') ?? 0
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

/** The lines of every recording below a folder; those of subagents last. */
export function readRecordings(workdir: string): readonly (readonly JsonObject[])[] {
  const folder = join(workdir, '.entire', 'metadata')
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  return names
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
    .map((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map(parseJson)
        .filter(isObject),
    )
}
